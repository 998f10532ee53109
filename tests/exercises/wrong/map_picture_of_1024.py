"""Knows the size of one picture.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    i = cuda.grid(1)
    if i < 1024:
        out[i] = 255 - pixels[i]
