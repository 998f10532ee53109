"""Compares a result with what it should be, block by block, in the memory it lies in."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuguide.backends import array_module
from gpuguide.buffers import blocks

__all__ = ["Difference", "Expected"]


@dataclass(frozen=True)
class Difference:
    """How far a result lies from what was expected.

    Attributes
    ----------
    largest : float
        Largest absolute difference.
    tolerance : float
        What is allowed at that element.
    n_wrong : int
        Elements outside their tolerance.
    first_wrong : int or None
        Flat index of the first of them.
    """

    largest: float
    tolerance: float
    n_wrong: int = 0
    first_wrong: int | None = None


@dataclass
class Expected:
    """The right result for one set of inputs.

    Attributes
    ----------
    values : numpy.ndarray
        In the result's shape: float64, complex128, or the result's own integers or booleans.
    dtype : numpy dtype
        What a result must have.
    factor : float
        The tolerance but for its scale; 0 asks for equality.
    magnitude : numpy.ndarray or None
        The tolerance's scale; None: element by element.
    """

    values: np.ndarray[Any, Any]
    dtype: np.dtype[Any]
    factor: float
    magnitude: np.ndarray[Any, Any] | None = None
    _uploaded: dict[str, Any] = field(default_factory=dict, repr=False)

    def difference(self, output: Any, operands: tuple[Any, ...]) -> Difference:
        """Compare a result, block by block, in the memory it lies in.

        Parameters
        ----------
        output : numpy.ndarray or cupy.ndarray
            Of the right shape and dtype.
        operands : tuple
            The pristine inputs, in the same memory.

        Returns
        -------
        Difference
            With the largest one, and where the first wrong element is.
        """
        xp = array_module(output)
        flat = _bits_of_booleans(xp.ascontiguousarray(output).reshape(-1))
        expected = self._on(xp)
        beside = [x.reshape(-1) for x in operands if _is_operand(x, output.shape)]
        found = Difference(0.0, 0.0)
        size = flat.size
        for part in blocks(size, (1 << 20) if xp is np else (1 << 24)):
            wanted = xp.asarray(expected[part])
            limit = self._limit(xp, wanted, [x[part] for x in beside], part, output.shape)
            found = _join(found, _compare(xp, flat[part], wanted, limit), part.start)
        return found

    def _on(self, xp: Any) -> Any:
        flat = _bits_of_booleans(np.ascontiguousarray(self.values).reshape(-1))
        if xp is np:
            return flat
        if "values" not in self._uploaded:
            try:
                self._uploaded["values"] = xp.asarray(flat)
            except MemoryError:  # then it is uploaded block by block, each time
                return flat
        return self._uploaded["values"]

    def _limit(self, xp: Any, expected: Any, beside: list[Any], part: slice, shape: tuple[int, ...]) -> Any:
        if self.factor == 0:
            return xp.zeros(1)
        if self.magnitude is None:
            scale = xp.abs(expected)
            for operand in beside:
                scale = xp.maximum(scale, xp.abs(operand))
        elif self.magnitude.size == 1:
            scale = xp.asarray(self.magnitude.reshape(1))
        else:
            whole = np.broadcast_to(self.magnitude, shape).reshape(-1)
            scale = xp.asarray(whole[part])
        return xp.where(xp.isfinite(scale), self.factor * scale, 0.0)


def _is_operand(x: Any, shape: tuple[int, ...]) -> bool:
    return getattr(x, "shape", None) == shape and x.dtype.kind in "iufc"


def _bits_of_booleans(flat: Any) -> Any:
    # A boolean that nobody wrote holds the sentinel, which compares equal to True.
    return flat.view(np.uint8) if flat.dtype.kind == "b" else flat


def _compare(xp: Any, got: Any, expected: Any, limit: Any) -> Difference:
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        same = got == expected
        rounded = got.dtype.kind in "fc"
        if rounded:
            same |= xp.isnan(got) & xp.isnan(expected)
        distance = xp.where(same, 0.0, xp.abs(got.astype(wide) - expected.astype(wide)))
        # Integers beyond 2**53 may differ and yet be at distance 0 in float64.
        wrong = ~same & ~(distance <= limit) if rounded else ~same
    n_wrong = int(wrong.sum())
    # NaN counts as the largest of all differences: it must not hide behind a comparison that is False.
    at = int(xp.where(xp.isnan(distance), np.inf, distance).argmax())
    return Difference(
        float(distance[at]),
        float(xp.broadcast_to(limit, distance.shape)[at]),
        n_wrong,
        int(wrong.argmax()) if n_wrong else None,
    )


def _join(a: Difference, b: Difference, offset: int) -> Difference:
    larger = b if not math.isnan(a.largest) and not b.largest <= a.largest else a
    first = a.first_wrong
    if first is None and b.first_wrong is not None:
        first = offset + b.first_wrong
    tolerance = max(a.tolerance, b.tolerance) if a.largest == b.largest else larger.tolerance
    return Difference(larger.largest, tolerance, a.n_wrong + b.n_wrong, first)
