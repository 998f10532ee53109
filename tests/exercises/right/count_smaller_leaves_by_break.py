"""Leaves its loop by a test inside, which is no turn of its own."""

from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    i = cuda.grid(1)
    if i < limits.size:
        lo, hi = 0, values.size - 1
        while True:
            if lo > hi:
                break
            mid = lo + (hi - lo) // 2
            if values[mid] >= limits[i]:
                hi = mid - 1
            else:
                lo = mid + 1
        counts[i] = lo
