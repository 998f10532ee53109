"""Asks a reference for the right result, and rejects an answer that nothing can be compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.buffers import blocks
from gpuguide.compare import Expected
from gpuguide.errors import MismatchError
from gpuguide.host_threads import assign, in_threads
from gpuguide.tolerance import Tolerance

__all__ = ["expect", "float64_copies"]

# Above this many elements a reference is not run a second time in wider integers.
_WIDEN_LIMIT = 1 << 26
_BLOCK = 1 << 18


def float64_copies(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a reference is called with: floats widened to float64, integers as they are.

    Parameters
    ----------
    inputs : tuple
        Arrays and scalars.

    Returns
    -------
    tuple
        Copies (complex numbers as complex128), so that a reference cannot change the inputs.

    Examples
    --------
    >>> [x.dtype.name for x in float64_copies((np.zeros(2, "f4"), np.zeros(2, "i4")))]
    ['float64', 'int32']
    """
    wide = {"f": np.float64, "c": np.complex128}
    return tuple(
        _copied(x, np.dtype(wide.get(x.dtype.kind, x.dtype))) if isinstance(x, np.ndarray) else x
        for x in inputs
    )


def _copied(x: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Do ``x.astype(dtype)``, in threads when that pays."""
    if not x.flags.c_contiguous:
        return x.astype(dtype, copy=True)
    made = np.empty(x.shape, dtype)
    assign(made, x)
    return made


def expect(
    reference: Callable[..., Any],
    inputs: tuple[Any, ...],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    tolerance: Tolerance,
    n: int,
    *,
    exact: bool,
) -> Expected:
    """Ask the reference, and check that its answer can be compared with.

    Parameters
    ----------
    reference : callable
        Called on float64 copies of floats and on integers as they are.
    inputs : tuple
        NumPy arrays and scalars.
    shape, dtype
        Of the result.
    tolerance : Tolerance
        For random inputs.
    n : int
        The size.
    exact : bool
        Whether the result must be equal.

    Returns
    -------
    Expected
        To compare results with.

    Raises
    ------
    MismatchError
        The reference has another shape, overflows, or is not exact in `dtype` on exact inputs.

    Examples
    --------
    >>> x = np.array([100, 100], "int8")
    >>> try:
    ...     expect(np.add, (x, x), (2,), np.dtype("int8"), Tolerance(), 2, exact=True)
    ... except MismatchError as error:
    ...     print(str(error)[:33])
    An integer overflows in the refer
    """
    copies = float64_copies(inputs)
    with np.errstate(over="ignore"):
        values = np.asarray(reference(*copies))
    if values.shape != shape:
        raise MismatchError(
            f"The reference returns shape {values.shape}; the study's output has shape {shape}. "
            "Give the study output=lambda n, dtype: (shape, dtype)."
        )
    _reject_overflow(reference, inputs, values, dtype)
    values = _as_comparable(values, dtype)
    if exact:
        return Expected(_require_exact(values, dtype), dtype, 0.0)
    factor = tolerance.factor(n, dtype)
    return Expected(values, dtype, factor, tolerance.magnitude(copies) if factor else None)


def _as_comparable(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if dtype.kind in "fc":
        return values.astype(np.complex128 if dtype.kind == "c" else np.float64, copy=False)
    if values.dtype.kind == "f" and not bool((values == np.trunc(values)).all()):
        raise MismatchError(f"The reference returns fractions where the study's output is {dtype}.")
    return values.astype(dtype, copy=False)


def _require_exact(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return the values in the result's dtype, in which they take less memory, or raise MismatchError."""
    if dtype.kind not in "fc":
        return values
    rounded = _copied(np.ascontiguousarray(values), dtype).reshape(values.shape)
    flat, flat_rounded = values.reshape(-1), rounded.reshape(-1)

    def one(part: slice) -> int | None:
        inexact = ~((flat_rounded[part] == flat[part]) | np.isnan(flat[part]))
        return int(part.start) + int(inexact.argmax()) if inexact.any() else None

    found = in_threads(one, blocks(flat.size, _BLOCK), flat.nbytes)
    at = next((place for place in found if place is not None), None)
    if at is not None:
        raise MismatchError(
            f"The reference is not exact in {dtype} on the exact inputs: {flat[at]!r} at index {at}. "
            "Choose inputs whose result is exact in any order, such as small integers."
        )
    return rounded


def _reject_overflow(
    reference: Callable[..., Any],
    inputs: tuple[Any, ...],
    values: np.ndarray[Any, Any],
    dtype: np.dtype[Any],
) -> None:
    """Find a result beyond the output's range, and a reference that wrapped on its way."""
    cure = "Choose smaller inputs or a wider output; where wrapping is the point, use check= instead."
    if dtype.kind in "iu" and values.size and values.dtype.kind in "iuf":
        low, high = values.min(), values.max()
        if not (low >= np.iinfo(dtype).min and high <= np.iinfo(dtype).max):
            raise MismatchError(
                f"An integer overflows in the reference: it reaches {low} to {high}, beyond {dtype}. {cure}"
            )
    wide = _reference_in_wider_integers(reference, inputs)
    if wide is None or wide.shape != values.shape or values.dtype.kind not in "iu":
        return
    # Wider is float64 for 64-bit integers: it differs by rounding, a wrapped value by half the range.
    slack = 0.0 if wide.dtype.kind in "iu" else 2.0**-40
    apart = np.abs(wide.astype(np.float64) - values.astype(np.float64))
    if bool((apart > slack * np.abs(wide.astype(np.float64))).any()):
        at = int(apart.argmax())
        raise MismatchError(
            f"An integer overflows in the reference: {values.reshape(-1)[at]} at index {at}, "
            f"{wide.reshape(-1)[at]} in wider integers. {cure}"
        )


def _reference_in_wider_integers(
    reference: Callable[..., Any], inputs: tuple[Any, ...]
) -> np.ndarray[Any, Any] | None:
    arrays = [x for x in inputs if isinstance(x, np.ndarray)]
    if not any(x.dtype.kind in "iu" for x in arrays) or sum(x.size for x in arrays) > _WIDEN_LIMIT:
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(reference(*(_widened(x) for x in float64_copies(inputs))))
    except (TypeError, IndexError, ValueError):
        return None  # 64-bit integers used as indices or bits have no wider type to be tried in


def _widened(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iu":
        return x
    return x.astype(np.float64 if x.dtype.itemsize == 8 else np.int64)
