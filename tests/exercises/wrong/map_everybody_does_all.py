"""Keeps the loop, so that every thread turns round every pixel.

Found: limit.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    for i in range(pixels.size):
        out[i] = 255 - pixels[i]
