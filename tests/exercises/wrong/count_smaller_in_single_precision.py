"""Compares in single precision, where large neighbours are equal.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        lo, hi = 0, values.size
        while lo < hi:
            mid = (lo + hi) // 2
            if float32(values[mid]) < float32(limits[i]):
                lo = mid + 1
            else:
                hi = mid
        counts[i] = lo
