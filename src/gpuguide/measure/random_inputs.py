"""Large arrays of random numbers, drawn in several threads and still the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.cpu import in_threads

__all__ = ["uniform", "whole_numbers"]

# Each slice has a generator of its own. Another length would give other numbers.
_SLICE = 1 << 22


def uniform(rng: np.random.Generator, n: int, dtype: Any = np.float64) -> np.ndarray[Any, Any]:
    """Draw uniform random numbers from 0 to 1, in threads.

    Up to 2**22 numbers are those of ``rng.random``. More are cut into slices of that length, each drawn by a
    child of the generator (``rng.spawn``), so the result does not depend on the number of CPUs.
    """
    kind = np.dtype(dtype)
    if kind.kind != "f":
        raise ArgumentError(f"uniform expects a dtype of floats, such as 'float32'; got {kind}.")
    # NumPy draws floats of these two widths only.
    drawn: Any = np.float64 if kind == np.float64 else np.float32
    return _fill(rng, n, kind, lambda child, size: child.random(size, dtype=drawn))


def whole_numbers(
    rng: np.random.Generator, n: int, high: int, dtype: Any = np.int64, *, low: int = 0
) -> np.ndarray[Any, Any]:
    """Draw whole numbers, each as likely as any other, in threads."""
    if not low < high:
        raise ArgumentError(f"whole_numbers expects low below high; got low={low}, high={high}.")
    # A narrow type takes fewer bits of the generator and is faster; another type gives other numbers.
    drawn: Any = next((kind for kind in (np.int8, np.int32) if _holds(kind, low, high)), np.int64)
    return _fill(rng, n, np.dtype(dtype), lambda child, size: child.integers(low, high, size, dtype=drawn))


def _holds(kind: Any, low: int, high: int) -> bool:
    return bool(np.iinfo(kind).min <= low and high - 1 <= np.iinfo(kind).max)


def _fill(
    rng: np.random.Generator,
    n: int,
    dtype: np.dtype[Any],
    draw: Callable[[np.random.Generator, int], np.ndarray[Any, Any]],
) -> np.ndarray[Any, Any]:
    if n < 0:
        raise ArgumentError(f"expected a number of values to draw, at least 0; got {n}.")
    if n <= _SLICE:
        return draw(rng, n).astype(dtype, copy=False)
    made = np.empty(n, dtype)
    starts = range(0, n, _SLICE)

    def one(at: tuple[int, np.random.Generator]) -> None:
        part = made[at[0] : at[0] + _SLICE]
        part[...] = draw(at[1], part.size)

    # Which child draws which slice is fixed before any thread begins.
    in_threads(one, zip(starts, rng.spawn(len(starts)), strict=True), made.nbytes)
    return made
