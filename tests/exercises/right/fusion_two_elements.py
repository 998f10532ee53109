"""Each thread takes two elements, half the array apart."""

from numba import cuda


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    half = (out.size + 1) // 2
    k = cuda.grid(1)
    if k < half:
        for i in range(k, out.size, half):
            difference = x[i] - y[i]
            out[i] = difference**2 * weight[i]
