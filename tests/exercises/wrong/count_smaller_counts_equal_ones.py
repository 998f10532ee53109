"""Takes values that equal the limit for smaller ones.

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
            if values[middle] <= limits[i]:
                low = middle + 1
            else:
                high = middle
        counts[i] = low
