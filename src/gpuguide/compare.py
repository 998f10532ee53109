"""Compares a result with what it should be, block by block, in the memory it lies in."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuguide import checking_kernels
from gpuguide.backends import array_module, is_device_array
from gpuguide.buffers import blocks
from gpuguide.host_threads import in_threads

__all__ = ["Difference", "Expected"]

# On the host a block and its temporaries stay in a cache.
_HOST_BLOCK, _DEVICE_BLOCK = 1 << 17, 1 << 24


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
        In the result's shape: float64, complex128, or of the result's own dtype.
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
        beside = [x.reshape(-1) for x in operands if _is_operand(x, output.shape)]
        if is_device_array(output) and len(beside) <= checking_kernels.MAX_OPERANDS:
            return self._by_kernel(xp, flat, beside)
        expected = self._on(xp, "values")
        magnitude = self._on(xp, "magnitude")

        def one(part: slice) -> Difference:
            with np.errstate(invalid="ignore", over="ignore"):
                wanted = xp.asarray(expected[part])
                limit = self._limit(xp, wanted, [x[part] for x in beside], _part(xp, magnitude, part))
                return _compare(xp, flat[part], wanted, limit)

        parts = list(blocks(flat.size, _HOST_BLOCK if xp is np else _DEVICE_BLOCK))
        each = in_threads(one, parts, flat.nbytes if xp is np else 0)
        return _joined(each, parts)

    def _by_kernel(self, xp: Any, flat: Any, beside: list[Any]) -> Difference:
        expected, magnitude = self._on(xp, "values"), self._on(xp, "magnitude")
        whole = all(x is None or is_device_array(x) for x in (expected, magnitude))
        parts = list(blocks(flat.size, max(flat.size, 1) if whole else _DEVICE_BLOCK))
        each = []
        for part in parts:
            scale = _part(xp, magnitude, part) if self.factor else None
            row = checking_kernels.compare(
                flat[part], xp.asarray(expected[part]), [x[part] for x in beside], scale, self.factor
            )
            each.append(Difference(row.largest, row.tolerance, row.n_wrong, row.first_wrong))
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
                self._uploaded[f"{name} uploaded"] = xp.asarray(flat)
            except MemoryError:  # then it is uploaded block by block, each time
                return flat
        return self._uploaded[f"{name} uploaded"]

    def _flat(self, name: str) -> np.ndarray[Any, Any] | None:
        if name == "values":
            values: np.ndarray[Any, Any] = _bits_of_booleans(np.ascontiguousarray(self.values).reshape(-1))
            return values
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
        return xp.where(xp.isfinite(scale), self.factor * scale, 0.0)


def _part(xp: Any, magnitude: Any, part: slice) -> Any:
    if magnitude is None:
        return None
    return xp.asarray(magnitude if magnitude.size == 1 else magnitude[part])


def _is_operand(x: Any, shape: tuple[int, ...]) -> bool:
    return getattr(x, "shape", None) == shape and x.dtype.kind in "iufc"


def _bits_of_booleans(flat: Any) -> Any:
    # A boolean that nobody wrote holds the sentinel, which compares equal to True.
    return flat.view(np.uint8) if flat.dtype.kind == "b" else flat


def _compare(xp: Any, got: Any, expected: Any, limit: Any) -> Difference:
    rounded = got.dtype.kind in "fc"
    if xp is np and got.dtype == expected.dtype and not limit.any() and np.array_equal(got, expected):
        return Difference(0.0, 0.0)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    distance = xp.abs(xp.subtract(got, expected, dtype=wide))
    top = float(distance.max())
    # What is not finite may still be as expected, and integers beyond 2**53 differ at distance 0 in float64.
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
    larger = b if not math.isnan(a.largest) and not b.largest <= a.largest else a
    first = a.first_wrong
    if first is None and b.first_wrong is not None:
        first = offset + b.first_wrong
    tolerance = max(a.tolerance, b.tolerance) if a.largest == b.largest else larger.tolerance
    return Difference(larger.largest, tolerance, a.n_wrong + b.n_wrong, first)
