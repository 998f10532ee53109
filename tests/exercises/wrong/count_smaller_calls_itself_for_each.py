"""Looks at one value after the other by calling itself, in place of a loop.

Found: compile.
"""

from numba import cuda


@cuda.jit(device=True)
def count(values, limit, k):
    if k < values.size and values[k] < limit:
        return count(values, limit, k + 1)
    return k


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        counts[i] = count(values, limits[i], 0)
