"""The larger of two elements as Numba compiles it for the CPU: loops, parallel loops, a ufunc."""

import math

import numba


@numba.njit
def larger(x, y):
    """Return the larger number; not a number (NaN) if one of the two is none."""
    return x if x > y or math.isnan(x) else y


@numba.njit
def maximum_loops(a, b, out):
    """Run the three loops as machine code, on one thread."""
    # Numba does not check indices: other shapes would be written past their end.
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = larger(a[i, j, k], b[i, j, k])


@numba.njit(parallel=True)
def maximum_parallel(a, b, out):
    """Share out the first loop among all threads."""
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = larger(a[i, j, k], b[i, j, k])


@numba.vectorize
def larger_ufunc(x, y):
    """Return the larger number; Numba makes a NumPy ufunc of it."""
    return x if x > y or math.isnan(x) else y
