"""The reference's answer, how far a result may differ from it, and how far it does.

A reference is rejected if its answer cannot be compared with: wrong shape, overflow, or inexact on exact
inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import array_module
from gpuguide.machine.cpu import assign, in_threads
from gpuguide.machine.memory import Space
from gpuguide.measure.buffers import blocks

__all__ = ["Difference", "Expected", "Tolerance", "expect"]

_SCALES = ("elementwise", "sum")
_BLOCK = 1 << 18
# Length of the blocks that are compared: on the host, one block and its temporaries fit into a cache.
_HOST_BLOCK, _DEVICE_BLOCK = 1 << 17, 1 << 24
# Above this many elements a reference is not run a second time in wider integers.
_WIDEN_LIMIT = 1 << 26


@dataclass(frozen=True)
class Tolerance:
    """How far a float may differ from the float64 reference: ``c * eps * (serial + log2 threads) * scale``.

    Never a relative tolerance alone: one lost element in 1e7 changes a random sum by 1e-7. The exact check
    finds that one; this bound is for rounding. Integers and booleans must be equal.
    """

    c: float = 4.0
    serial: int | Callable[[int], int] = 1
    scale: str | Callable[..., Any] = "elementwise"
    threads: int | Callable[[int], int] | None = None

    def __post_init__(self) -> None:
        """Check the arguments."""
        if not (isinstance(self.c, int | float) and 0 < self.c < math.inf):
            raise ArgumentError(f"Tolerance.c must be a positive number; got {self.c!r}.")
        for name, least in (("serial", 1), ("threads", 1)):
            value = getattr(self, name)
            if isinstance(value, int) and value < least:
                raise ArgumentError(f"Tolerance.{name} must be at least {least}; got {value!r}.")
        if isinstance(self.scale, str) and self.scale not in _SCALES:
            raise ArgumentError(
                f"Tolerance.scale must be 'elementwise', 'sum' or a callable; got {self.scale!r}."
            )

    def factor(self, n: int, dtype: np.dtype[Any]) -> float:
        """Return everything but the scale."""
        if dtype.kind not in "fc":
            return 0.0
        # In a sum, each of the n elements may be a partial result of its own.
        default = 1 if self.scale == "elementwise" else n
        serial = self.serial(n) if callable(self.serial) else self.serial
        threads = self.threads(n) if callable(self.threads) else self.threads or default
        return float(self.c * np.finfo(dtype).eps * (serial + math.log2(max(threads, 1))))

    def magnitude(self, copies: tuple[Any, ...]) -> Any:
        """Return the scale as a number or array, or None if it is computed element by element."""
        if callable(self.scale):
            return np.asarray(self.scale(*copies), dtype=np.float64)
        return None if self.scale == "elementwise" else np.asarray(_sum_of_magnitudes(copies))

    def __str__(self) -> str:
        named = {"elementwise": "max(|expected|, |operands|)", "sum": "sum |x|"}
        scale = getattr(self.scale, "__name__", "scale") if callable(self.scale) else named[self.scale]
        serial = "serial(n)" if callable(self.serial) else str(self.serial)
        default = "" if self.scale == "elementwise" else " + log2 n"
        threads = " + log2 threads(n)" if callable(self.threads) else f" + log2 {self.threads}"
        terms = serial + (default if self.threads is None else threads)
        # One rounding and one thread make the factor 1, which is left out.
        shown = f" ({terms})" if terms.removesuffix(" + log2 1") != "1" else ""
        return f"{self.c:g} eps{shown} {'scale' if scale == '<lambda>' else scale}"


def _sum_of_magnitudes(copies: tuple[Any, ...]) -> float:
    x = np.asarray(copies[0]).reshape(-1)
    sums = in_threads(lambda part: np.abs(x[part]).sum(dtype=np.float64), blocks(x.size, _BLOCK), x.nbytes)
    return float(sum(sums))


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
    """Call the reference, and check that results can be compared with its answer."""
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


def float64_copies(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments for a reference: floats widened to float64, integers as they are."""
    wide = {"f": np.float64, "c": np.complex128}
    return tuple(
        _copied(x, np.dtype(wide.get(x.dtype.kind, x.dtype))) if isinstance(x, np.ndarray) else x
        for x in inputs
    )


def _copied(x: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Do ``x.astype(dtype)``, in threads when that pays."""
    # `assign` cuts flat arrays into parts, and these cannot be flattened without a copy.
    if not x.flags.c_contiguous:
        return x.astype(dtype, copy=True)
    made = np.empty(x.shape, dtype)
    assign(made, x)
    return made


def _as_comparable(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if dtype.kind in "fc":
        return values.astype(np.complex128 if dtype.kind == "c" else np.float64, copy=False)
    if values.dtype.kind == "f" and not bool((values == np.trunc(values)).all()):
        raise MismatchError(f"The reference returns fractions where the study's output is {dtype}.")
    return values.astype(dtype, copy=False)


def _require_exact(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Convert the values to the result's dtype, which takes less memory, or raise MismatchError."""
    if dtype.kind not in "fc":
        return values
    # `ascontiguousarray` gives a single number an axis; `reshape` removes it again.
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
    """Find a result beyond the output's range, or a reference that wrapped around."""
    cure = "Choose smaller inputs or a wider output; where wrapping is the point, use check= instead."
    # Before the values are cast to the output's type, which would hide an overflow.
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
    # Floats do not wrap around: they become infinite, which is easy to see.
    if not any(x.dtype.kind in "iu" for x in arrays) or sum(x.size for x in arrays) > _WIDEN_LIMIT:
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(reference(*(_widened(x) for x in float64_copies(inputs))))
    except (TypeError, IndexError, ValueError):
        return None  # 64-bit integers used as indices or bits have no wider type to try


def _widened(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iu":
        return x
    return x.astype(np.float64 if x.dtype.itemsize == 8 else np.int64)


@dataclass
class Expected:
    """The right result for one set of inputs."""

    values: np.ndarray[Any, Any]
    dtype: np.dtype[Any]
    factor: float
    magnitude: np.ndarray[Any, Any] | None = None
    _uploaded: dict[str, Any] = field(default_factory=dict, repr=False)

    def difference(self, output: Any, operands: tuple[Any, ...]) -> Difference:
        """Compare a result, block by block, in the memory that holds it."""
        xp = array_module(output)
        flat = _bits_of_booleans(xp.ascontiguousarray(output).reshape(-1))
        beside = [x.reshape(-1) for x in operands if _is_operand(x, output.shape)]
        expected = self._on(xp, "values")
        magnitude = self._on(xp, "magnitude")

        def one(part: slice) -> Difference:
            # A wrong result may hold anything, and infinity minus infinity must not warn.
            with np.errstate(invalid="ignore", over="ignore"):
                wanted = xp.asarray(expected[part])
                limit = self._limit(xp, wanted, [x[part] for x in beside], _part(xp, magnitude, part))
                return _compare(xp, flat[part], wanted, limit)

        parts = list(blocks(flat.size, _HOST_BLOCK if xp is np else _DEVICE_BLOCK))
        each = in_threads(one, parts, flat.nbytes if xp is np else 0)
        return _joined(each, parts)

    def _on(self, xp: Any, name: str) -> Any:
        """Return the values or the magnitude as a flat array, uploaded once where memory allows."""
        if name not in self._uploaded:
            self._uploaded[name] = self._flat(name)
        flat = self._uploaded[name]
        if xp is np or flat is None:
            return flat
        if f"{name} uploaded" not in self._uploaded:
            try:
                self._uploaded[f"{name} uploaded"] = Space("device", xp).put(flat)
            except MemoryError:  # then each block is uploaded each time
                return flat
        return self._uploaded[f"{name} uploaded"]

    def _flat(self, name: str) -> np.ndarray[Any, Any] | None:
        if name == "values":
            values: np.ndarray[Any, Any] = _bits_of_booleans(np.ascontiguousarray(self.values).reshape(-1))
            return values
        # One number for all elements is never spread over an array of them.
        if self.magnitude is None or self.magnitude.size == 1:
            return None if self.magnitude is None else self.magnitude.reshape(1)
        return np.ascontiguousarray(np.broadcast_to(self.magnitude, self.values.shape)).reshape(-1)

    def _limit(self, xp: Any, expected: Any, beside: list[Any], magnitude: Any) -> Any:
        if self.factor == 0:
            return xp.zeros(1)
        scale = xp.abs(expected) if magnitude is None else magnitude
        if magnitude is None:
            for operand in beside:
                scale = xp.maximum(scale, xp.abs(operand))
        # If NaN or infinity is expected, there is no tolerance: the result must be exactly that.
        return xp.where(xp.isfinite(scale), self.factor * scale, 0.0)


def _part(xp: Any, magnitude: Any, part: slice) -> Any:
    if magnitude is None:
        return None
    return xp.asarray(magnitude if magnitude.size == 1 else magnitude[part])


def _is_operand(x: Any, shape: tuple[int, ...]) -> bool:
    return getattr(x, "shape", None) == shape and x.dtype.kind in "iufc"


def _bits_of_booleans(flat: Any) -> Any:
    # A boolean that was never written holds the sentinel, which compares equal to True.
    return flat.view(np.uint8) if flat.dtype.kind == "b" else flat


def _compare(xp: Any, got: Any, expected: Any, limit: Any) -> Difference:
    rounded = got.dtype.kind in "fc"
    if xp is np and got.dtype == expected.dtype and not limit.any() and np.array_equal(got, expected):
        return Difference(0.0, 0.0)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    distance = xp.abs(xp.subtract(got, expected, dtype=wide))
    top = float(distance.max())
    # Values that are not finite may be right, and integers beyond 2**53 can differ at distance 0 in float64.
    if rounded and math.isfinite(top):
        wrong = distance > limit
    else:
        same = got == expected
        if rounded:
            same |= xp.isnan(got) & xp.isnan(expected)
        distance = xp.where(same, 0.0, distance)
        wrong = ~same & ~(distance <= limit) if rounded else ~same
    n_wrong = int(xp.count_nonzero(wrong))
    # NaN counts as the largest of all differences: it must not hide behind a comparison that is False.
    ranked = distance if top < math.inf else xp.where(xp.isnan(distance), np.inf, distance)
    at = int(ranked.argmax())
    return Difference(
        float(distance[at]),
        float(xp.broadcast_to(limit, distance.shape)[at]),
        n_wrong,
        int(wrong.argmax()) if n_wrong else None,
    )


def _joined(each: list[Difference], parts: list[slice]) -> Difference:
    found = Difference(0.0, 0.0)
    for part, other in zip(parts, each, strict=True):
        found = _join(found, other, part.start)
    return found


def _join(a: Difference, b: Difference, offset: int) -> Difference:
    # NaN is the largest of all: the `not` of the second comparison lets it win, the first one keeps it.
    larger = b if not math.isnan(a.largest) and not b.largest <= a.largest else a
    first = a.first_wrong
    if first is None and b.first_wrong is not None:
        first = offset + b.first_wrong
    tolerance = max(a.tolerance, b.tolerance) if a.largest == b.largest else larger.tolerance
    return Difference(larger.largest, tolerance, a.n_wrong + b.n_wrong, first)


@dataclass(frozen=True)
class Difference:
    """How far a result differs from what was expected."""

    largest: float
    tolerance: float
    n_wrong: int = 0
    first_wrong: int | None = None
