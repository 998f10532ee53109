"""Walks from the front and stops where it may: half of the steps, and still too many.

Found: limit.
"""

from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        k = 0
        while k < values.size and values[k] < limits[i]:
            k += 1
        counts[i] = k
