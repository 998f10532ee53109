"""What Python pays for a slice that moves nothing, and for one whose length the GPU must find out first."""

from __future__ import annotations

import numpy as np

from gpuguide.machine.backends import cupy
from gpuguide.measure.turns import launches_in_turns

__all__ = ["views", "waits"]

N = 2**24


def views(n_turns: int = 20) -> dict[str, list[float]]:
    """Time the making of a view with NumPy and with CuPy, in seconds each."""
    x_host, x = np.zeros(N, np.float32), cupy().zeros(N, np.float32)
    return launches_in_turns(
        {"view_numpy": lambda: x_host[::2], "view_cupy": lambda: x[::2]}, n_turns
    )


def waits(n_turns: int = 20) -> dict[str, list[float]]:
    """Time how long Python is held up by x[index] and by x[mask] for the same half of the numbers."""
    cp = cupy()
    x = cp.asarray(np.random.default_rng(0).random(N, dtype=np.float32))
    mask = x > 0.5
    index = cp.flatnonzero(mask)
    if not bool((x[mask] == x[index]).all()):
        raise AssertionError("the mask and the index pick other numbers")
    return launches_in_turns(
        {"by_index": lambda: x[index], "by_mask": lambda: x[mask]}, n_turns
    )
