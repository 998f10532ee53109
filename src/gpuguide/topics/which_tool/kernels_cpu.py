"""The softmax of rows on all threads of the CPU."""

import math

from numba import float32, njit, prange


@njit(parallel=True, fastmath={"contract"})
def cpu_threads(x, out):
    """Let each thread of the CPU turn rows into shares."""
    for row in prange(x.shape[0]):
        largest = float32(-math.inf)
        for col in range(x.shape[1]):
            largest = max(largest, x[row, col])
        total = 0.0  # in float64, because thousands of numbers are added one by one
        for col in range(x.shape[1]):
            out[row, col] = math.exp(x[row, col] - largest)
            total += out[row, col]
        share = float32(1 / total)
        for col in range(x.shape[1]):
            out[row, col] *= share
