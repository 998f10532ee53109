"""A polynomial on all threads of the CPU, and on the GPU."""

import numpy as np
from numba import cuda, njit, prange

# Whole numbers, so that whole inputs give exact results; the highest power comes first.
COEFFICIENTS = np.array([2, -3, 1, 4, -1, 3, -2, 5], np.float32)
DEGREE = len(COEFFICIENTS) - 1


@njit(parallel=True)
def polynomial_threads(x, out):
    """Compile the loop with Numba, and share its numbers out among all threads of the CPU."""
    for i in prange(x.size):
        total = COEFFICIENTS[0]
        for k in range(1, DEGREE + 1):
            total = total * x[i] + COEFFICIENTS[k]
        out[i] = total


@cuda.jit
def polynomial_kernel(x, out):
    """Each thread works out one number."""
    i = cuda.grid(1)
    if i < x.size:
        # Numba compiles these numbers into the kernel: no memory is read for them.
        total = COEFFICIENTS[0]
        for k in range(1, DEGREE + 1):
            total = total * x[i] + COEFFICIENTS[k]
        out[i] = total
