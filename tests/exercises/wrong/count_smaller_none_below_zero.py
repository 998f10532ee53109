"""Takes for granted that no value is below zero.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        lo, hi = 0, values.size
        x = limits[i]
        if x <= 0:
            counts[i] = 0
            return
        while lo < hi:
            mid = (lo + hi) // 2
            if values[mid] < x:
                lo = mid + 1
            else:
                hi = mid
        counts[i] = lo
