"""The loops that are compiled again and again; the kernel beside them is that of `grids_2d_3d`."""

from functools import cache

from numba import njit, prange


def larger_loops(a, b, out):
    """Fill a box with the larger of two elements, in three loops."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = a[i, j, k] if a[i, j, k] > b[i, j, k] else b[i, j, k]


def larger_parallel_loops(a, b, out):
    """Fill a box with the larger of two elements; the outer loop may be shared out among threads."""
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = a[i, j, k] if a[i, j, k] > b[i, j, k] else b[i, j, k]


@cache
def compiled_loops():
    """Return the loops as @njit makes them, the same each time, so that they are compiled once.

    >>> compiled_loops() is compiled_loops()
    True
    """
    return njit(larger_loops)
