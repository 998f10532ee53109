"""Stores a negative float as an unsigned integer, which is 0 on a GPU.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    i = cuda.grid(1)
    out[i] = -1.0 - pixels[i]
