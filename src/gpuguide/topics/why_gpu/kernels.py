"""A polynomial in one pass: on all threads of the CPU, and on the GPU."""

import numpy as np
from numba import cuda, njit, prange

# The highest power first. In float32, or Numba would compute in float64.
COEFFICIENTS = np.array([2, -3, 1, 4, -1, 3, -2, 5], np.float32)


@njit(parallel=True)
def cpu_threads(x, out):
    """Share the numbers out among all threads of the CPU."""
    for i in prange(x.size):
        total = COEFFICIENTS[0]
        for k in range(1, COEFFICIENTS.size):
            total = total * x[i] + COEFFICIENTS[k]
        out[i] = total


@cuda.jit
def gpu_threads(x, out):
    """Give each number a thread of the GPU."""
    i = cuda.grid(1)
    if i < x.size:
        total = COEFFICIENTS[0]
        for k in range(1, COEFFICIENTS.size):
            total = total * x[i] + COEFFICIENTS[k]
        out[i] = total
