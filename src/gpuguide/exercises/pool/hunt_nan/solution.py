from math import isnan

from numba import cuda, float32


@cuda.jit
def sums_kernel(x, sums):
    """Add up the measured values of a row; a missing one is NaN."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = float32(0)
        for col in range(x.shape[1]):
            value = x[row, col]
            if not isnan(value):  # NaN differs from everything, itself included, so == and != do not help
                total += value
        sums[row] = total
