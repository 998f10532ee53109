"""The squared distance of points: the function, the ufuncs of rows made of it, a loop and a kernel."""

from functools import cache

import numba
import numpy as np
from numba import cuda

SIGNATURES = ["void(float32[:], float32[:], float32[:])"]
LAYOUT = "(d),(d)->()"
ZERO = np.float32(0)


def squared_distance(a, b, out):
    """Fill one number from two rows: what @guvectorize makes a ufunc of."""
    total = ZERO
    for k in range(a.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    out[0] = total


@cache
def cpu_gufunc():
    """Make a ufunc of rows for one CPU thread; compiled when this is called.

    >>> points = np.array([[0, 3], [4, 0]], np.float32)
    >>> cpu_gufunc()(points, points[::-1]).tolist()
    [25.0, 25.0]
    """
    from numba import guvectorize

    return guvectorize(SIGNATURES, LAYOUT)(squared_distance)


@cache
def gpu_gufunc():
    """Make a ufunc of rows for the GPU; compiled when this is called."""
    from numba import guvectorize

    return guvectorize(SIGNATURES, LAYOUT, target="cuda")(squared_distance)


@numba.njit(parallel=True)
def distance_cpu_loop(a, b, out):
    """Share out a plain loop over the rows among all CPU threads."""
    if a.shape != b.shape or a.shape[0] != out.size:
        raise ValueError("expected arrays of shapes (n, d), (n, d), (n,)")
    for i in numba.prange(out.size):
        total = ZERO
        for k in range(a.shape[1]):
            difference = a[i, k] - b[i, k]
            total += difference * difference
        out[i] = total


@cuda.jit
def distance_kernel(a, b, out):
    """Each thread walks along its own row."""
    i = cuda.grid(1)
    if i < out.size:
        total = ZERO
        for k in range(a.shape[1]):
            difference = a[i, k] - b[i, k]
            total += difference * difference
        out[i] = total
