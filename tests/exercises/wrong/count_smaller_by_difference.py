"""Looks at the sign of a difference, which overflows.

Found: wrong.
"""

from numba import cuda, int32


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        lo, hi = 0, values.size
        while lo < hi:
            mid = (lo + hi) // 2
            if int32(values[mid] - limits[i]) < 0:
                lo = mid + 1
            else:
                hi = mid
        counts[i] = lo
