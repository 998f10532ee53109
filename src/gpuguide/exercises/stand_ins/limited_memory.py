"""A stand-in for CuPy whose memory pool has a limit, so that running out of memory needs no large array."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any

from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu

__all__ = ["LimitedCupy", "OutOfMemoryError"]


class OutOfMemoryError(MemoryError):
    """What CuPy raises when an array does not fit, with the same words."""


class LimitedCupy(FakeCupy):
    """A module ``cupy`` whose arrays may use so many bytes together, and no more.

    A buffer is in use until the last array or view of it is gone.

    Attributes
    ----------
    limit : int
        As given.
    used, most_used : int
        Bytes in use now, and the most that were.

    >>> cp = LimitedCupy(64)
    >>> x = cp.zeros(4)
    >>> y = x + x
    >>> try:
    ...     z = y + 1
    ... except OutOfMemoryError as error:
    ...     print(error)
    Out of memory allocating 32 bytes (allocated so far: 64 bytes, limit set to: 64 bytes).
    >>> del y
    >>> cp.used, cp.most_used
    (32, 64)
    """

    def __init__(self, limit: int, gpu: VirtualGpu | None = None) -> None:
        super().__init__(gpu)
        self.limit, self.used, self.most_used = limit, 0, 0
        self._bytes: dict[int, int] = {}
        self._arrays: Counter[int] = Counter()
        self.cuda.memory = _Names()

    def get_default_memory_pool(self) -> Any:
        """Return what tells the bytes in use, and takes no limit above the one that there is."""

        def set_limit(size: int | None = None, fraction: float | None = None) -> None:
            self.limit = min(self.limit, size or self.limit)

        pool = super().get_default_memory_pool()
        pool.used_bytes = pool.total_bytes = lambda: self.used
        pool.free_bytes = pool.n_free_blocks = lambda: 0
        pool.get_limit, pool.set_limit = lambda: self.limit, set_limit
        return pool

    def wrap(self, data: Any, buffer: int) -> Any:
        """Return an array over memory of a buffer, which is in use as long as the array lives."""
        array = super().wrap(data, buffer)
        self._arrays[buffer] += 1
        weakref.finalize(array, self._drop, buffer)
        return array

    def _allocate(self, contents: Any) -> Any:
        if self.used + contents.nbytes > self.limit:
            raise OutOfMemoryError(
                f"Out of memory allocating {contents.nbytes:,} bytes (allocated so far: {self.used:,} bytes, "
                f"limit set to: {self.limit:,} bytes)."
            )
        array = super()._allocate(contents)
        self._bytes[array._buffer] = contents.nbytes
        self.used += contents.nbytes
        self.most_used = max(self.most_used, self.used)
        return array

    def _drop(self, buffer: int) -> None:
        self._arrays[buffer] -= 1
        if not self._arrays[buffer]:
            self.used -= self._bytes.pop(buffer, 0)


class _Names:
    """As much of ``cupy.cuda.memory`` as a reader needs to catch the error."""

    OutOfMemoryError = OutOfMemoryError
