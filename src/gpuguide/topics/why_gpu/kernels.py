"""A polynomial on all threads of the CPU, and on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from gpuguide.machine.backends import cuda, jit

# Whole numbers, so that whole inputs give exact results; the highest power comes first.
COEFFICIENTS = np.array([2, -3, 1, 4, -1, 3, -2, 5], np.float32)
DEGREE = len(COEFFICIENTS) - 1


@njit(parallel=True)
def polynomial_threads(x: Any, out: Any) -> None:
    """Compile the loop with Numba, and share its numbers out among all threads of the CPU.

    Parameters
    ----------
    x, out : ndarray of float32, shape (n,)
        Input, and the array that is filled.

    Examples
    --------
    >>> out = np.empty(3, np.float32)
    >>> polynomial_threads(np.float32([0, 1, 2]), out)
    >>> out.tolist()
    [5.0, 9.0, 165.0]
    """
    for i in prange(x.size):
        total = COEFFICIENTS[0]
        for k in range(1, DEGREE + 1):
            total = total * x[i] + COEFFICIENTS[k]
        out[i] = total


@jit
def polynomial_kernel(x: Any, out: Any) -> None:
    """Each thread works out one number."""
    i = cuda.grid(1)
    if i < x.size:
        total = COEFFICIENTS[0]
        for k in range(1, DEGREE + 1):
            total = total * x[i] + COEFFICIENTS[k]
        out[i] = total
