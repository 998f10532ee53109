"""What Python pays for a slice that moves nothing, and for one whose length the GPU must find out first."""

import numpy as np

from gpuguide.measure import cp
from gpuguide.measure.turns import launches_in_turns

N = 2**24


def views(n_turns=20):
    """Time the making of a view with NumPy and with CuPy, in seconds each."""
    x_host, x = np.zeros(N, np.float32), cp.zeros(N, np.float32)
    return launches_in_turns(
        {"view_numpy": lambda: x_host[::2], "view_cupy": lambda: x[::2]}, n_turns
    )


def waits(n_turns=20):
    """Time how long Python is held up by x[index] and by x[mask] for the same half of the numbers."""
    x = cp.asarray(np.random.default_rng(0).random(N, dtype=np.float32))
    mask = x > 0.5
    index = cp.flatnonzero(mask)
    if not bool((x[mask] == x[index]).all()):
        raise AssertionError("the mask and the index pick other numbers")
    return launches_in_turns(
        {"by_index": lambda: x[index], "by_mask": lambda: x[mask]}, n_turns
    )
