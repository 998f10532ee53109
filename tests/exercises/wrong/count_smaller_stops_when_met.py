"""Ends at the first value that equals the limit, although others may stand in front of it.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        low, high = 0, values.size
        while low < high:
            middle = (low + high) // 2
            if values[middle] == limits[i]:
                low = high = middle
            elif values[middle] < limits[i]:
                low = middle + 1
            else:
                high = middle
        counts[i] = low
