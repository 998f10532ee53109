"""The memories that a study's arrays lie in, and what happens when one of them is full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuguide.machine.backends import cupy, numba_view

__all__ = [
    "HOST",
    "Space",
    "device_space",
    "free_pools",
    "is_out_of_memory",
    "pinned_space",
    "pool_bytes",
]

# The words of CUDA, cuFFT, cuSOLVER, cuBLAS and Numba; CuPy's own error is a MemoryError.
_SIGNS = ("cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "ALLOC_FAILED", "NOT_ENOUGH_WORKSPACE")


@dataclass(frozen=True)
class Space:
    """A memory to put arrays in."""

    name: str
    xp: Any
    wrap: Callable[[Any], Any] = lambda array: array
    allocate: Callable[[int], Any] | None = None

    def empty_bytes(self, n_bytes: int) -> Any:
        """Return an array of bytes in this memory, not yet filled."""
        if self.allocate is not None:
            return self.allocate(n_bytes)
        return self.xp.empty(n_bytes, dtype=np.uint8)

    def put(self, x: NDArray[Any]) -> Any:
        """Return a NumPy array in this memory: as it is on the host, a copy on the GPU."""
        rows = np.asarray(x, order="C")
        if self.xp is np:
            return rows
        # `cupy.asarray` would pin as much host memory first, which takes seconds for gigabytes.
        copied = self.xp.empty(rows.shape, dtype=rows.dtype)
        copied.set(rows)
        return copied


HOST = Space("host", np)
"""NumPy arrays. In the simulator Numba kernels take them too."""


def device_space() -> Space:
    """Return the GPU's memory: CuPy arrays, and Numba views made once without synchronising."""
    return Space("device", cupy(), numba_view)


def pinned_space() -> Space:
    """Return pinned host memory, which the GPU copies from and to directly, as NumPy arrays."""
    return Space("pinned", np, allocate=_pinned_bytes)


def _pinned_bytes(n_bytes: int) -> NDArray[Any]:
    # From CuPy's pool, so that the random check gets the memory that was pinned for the exact one.
    memory = cupy().cuda.alloc_pinned_memory(n_bytes)
    # The array holds on to `memory`, which goes back to the pool with it.
    return np.frombuffer(memory, np.uint8, n_bytes)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that a memory is full."""
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in _SIGNS)


def pool_bytes(space: Space) -> int:
    """Return the bytes that CuPy's memory pool holds at this moment; 0 for NumPy."""
    pool = getattr(space.xp, "get_default_memory_pool", None)
    return 0 if pool is None else int(pool().total_bytes())


def free_pools(space: Space) -> None:
    """Return to the driver what CuPy's pools hold unused; do nothing for NumPy."""
    # Pinned arrays are NumPy's, but CuPy's pool holds their memory: it is freed with the device's space.
    for name in ("get_default_memory_pool", "get_default_pinned_memory_pool"):
        pool = getattr(space.xp, name, None)
        if pool is not None:
            pool().free_all_blocks()
