"""Takes the square apart, so that its digits cancel.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    i = cuda.grid(1)
    if i < out.size:
        a = x[i]
        b = y[i]
        out[i] = (a * a - float32(2) * a * b + b * b) * weight[i]
