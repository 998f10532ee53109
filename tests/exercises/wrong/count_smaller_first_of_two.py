"""Looks at the first of two values only.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        limit = limits[i]
        low, high = 0, values.size
        if high < 3:
            low = high = 1 if high > 0 and values[0] < limit else 0
        while low < high:
            middle = (low + high) // 2
            if values[middle] < limit:
                low = middle + 1
            else:
                high = middle
        counts[i] = low
