"""Arrays between guard zones, as one block of bytes that is copied to a GPU and back and examined here."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.measure.buffers import pattern

__all__ = ["GUARD_BYTES", "GuardedBytes"]

GUARD_BYTES = 1 << 16
"""Length of each zone: more elements than the widest launch has spare threads."""

Array = np.ndarray[Any, Any]


class GuardedBytes:
    """The bytes of an array with a poisoned zone on both sides; gaps between its elements are poisoned, too.

    Attributes
    ----------
    image : numpy.ndarray
        The bytes as they should be before a launch.
    shape, dtype, strides : tuple of int, numpy.dtype, tuple of int
        Of the array, which begins `GUARD_BYTES` into the image.

    >>> guarded = GuardedBytes(np.arange(4, dtype=np.int32), "sentinel")
    >>> after = guarded.image.copy()
    >>> guarded.view(after)[0] = 7
    >>> guarded.damage(after)
    ''
    >>> after[GUARD_BYTES + 16] += 1
    >>> guarded.damage(after)
    'behind'
    """

    def __init__(self, array: Array, role: str) -> None:
        self.shape, self.dtype, self.strides = array.shape, array.dtype, array.strides
        word, bits = pattern(array.dtype, role)
        reach = sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        self._n_bytes = reach + array.itemsize if array.size else 0
        padded = -(-self._n_bytes // word.itemsize) * word.itemsize
        self.image = np.full((2 * GUARD_BYTES + padded) // word.itemsize, bits, word).view(np.uint8)
        self.view(self.image)[...] = array
        self._own = np.zeros(len(self.image), bool)
        self._bytes(self._own)[...] = True

    def _bytes(self, marks: Array) -> Array:
        """Return the marks of the array's own bytes: one more axis, the bytes of an element."""
        return np.ndarray(
            (*self.shape, self.dtype.itemsize),
            bool,
            buffer=marks.data,
            offset=GUARD_BYTES,
            strides=(*self.strides, 1),
        )

    def view(self, image: Array) -> Array:
        """Return the array that lies in an image."""
        return np.ndarray(self.shape, self.dtype, buffer=image.data, offset=GUARD_BYTES, strides=self.strides)

    def damage(self, after: Array) -> str:
        """Say where an image was first written outside of the array; empty if it was not."""
        touched = (after != self.image) & ~self._own
        if not touched.any():
            return ""
        first = int(touched.argmax())
        if first < GUARD_BYTES:
            return "before"
        return "between the elements of" if first < GUARD_BYTES + self._n_bytes else "behind"
