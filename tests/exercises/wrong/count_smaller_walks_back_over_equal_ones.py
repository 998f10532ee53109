"""Walks back over equal values one by one.

Found: limit.
"""

from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        limit = limits[i]
        low, high = 0, values.size
        while low < high:
            middle = (low + high) // 2
            if values[middle] == limit:
                while middle > 0 and values[middle - 1] == limit:
                    middle -= 1
                low = high = middle
            elif values[middle] < limit:
                low = middle + 1
            else:
                high = middle
        counts[i] = low
