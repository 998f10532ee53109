"""The larger of two elements on the CPU: a Python loop, and what Numba compiles of it."""

from math import isnan

import numba


def python_loop(a, b, out):
    """Compare one pair of elements after the other."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                x, y = a[i, j, k], b[i, j, k]
                out[i, j, k] = x if x > y or isnan(x) else y


@numba.njit(nogil=True)
def loops(a, b, out):
    """Run the same three loops as machine code, on one thread."""
    if a.shape != out.shape or b.shape != out.shape:  # Numba does not check indices
        raise ValueError("expected three arrays of one shape")
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                x, y = a[i, j, k], b[i, j, k]
                out[i, j, k] = x if x > y or isnan(x) else y


@numba.vectorize
def ufunc(x, y):
    """Return the larger number; Numba makes a function of whole arrays from it."""
    return x if x > y or isnan(x) else y


@numba.njit(parallel=True)
def parallel(a, b, out):
    """Share out the first loop among all threads."""
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                x, y = a[i, j, k], b[i, j, k]
                out[i, j, k] = x if x > y or isnan(x) else y
