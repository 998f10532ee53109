"""Compares the number above a value, which the greatest number does not have.

Found: wrong, unread.
"""

from numba import cuda, int32


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        limit = limits[i]
        low, high = 0, values.size
        while low < high:
            middle = (low + high) // 2
            if int32(values[middle] + 1) <= limit:
                low = middle + 1
            else:
                high = middle
        counts[i] = low
