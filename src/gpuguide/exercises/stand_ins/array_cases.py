"""Shared by judges of functions on arrays: comparing results and inputs, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import shown

__all__ = ["compare_values", "unchanged"]


def compare_values(case: str, result: Any, expected: Any, tolerance: float = 0.0) -> Finding | None:
    """Compare an array of the host, or a number, with what was expected.

    >>> compare_values("For a vector", np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None
    True
    >>> print(compare_values("For a vector", np.array([1.0, 3.0]), np.array([1.0, 2.0])))
    For a vector element 1 of the result must be 2.0; got 3.0.
    """
    expected = np.asarray(expected)
    if not isinstance(result, np.ndarray | np.generic | int | float):
        wanted = "an array of NumPy" if expected.ndim else "a number"
        return Finding("wrong", f"{case} the result must be {wanted}; got {shown(result)}.")
    result = np.asarray(result)
    if result.shape != expected.shape:
        return Finding(
            "wrong", f"{case} the result must have the shape {expected.shape}; it has {result.shape}."
        )
    if result.dtype != expected.dtype:
        return Finding("wrong", f"{case} the result must be {expected.dtype}; it is {result.dtype}.")
    if expected.dtype.kind in "iub":  # float64 cannot hold all of them
        bad = result != expected
    else:  # written so that NaN never matches
        bad = ~(np.abs(result.astype(np.float64) - expected) <= tolerance)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    place = f"element {index[0] if len(index) == 1 else index} of the result" if index else "the result"
    message = f"{case} {place} must be {expected[index].item()}; got {result[index].item()}."
    return Finding("wrong", message, index=index)


def unchanged(case: str, name: str, array: Any, copy: Any) -> Finding | None:
    """Check that an input did not change.

    >>> x = np.zeros(3)
    >>> unchanged("For a vector", "x", x, np.zeros(3)) is None
    True
    """
    if isinstance(copy, list):
        same = array == copy
    else:
        same = (array.shape, array.dtype, array.tobytes()) == (copy.shape, copy.dtype, copy.tobytes())
    if same:
        return None
    return Finding("input_changed", f"{case} the function changed {name}, which belongs to the caller.")
