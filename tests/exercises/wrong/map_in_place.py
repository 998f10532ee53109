"""Turns the picture itself round and copies it.

Found: input_changed.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    i = cuda.grid(1)
    pixels[i] = 255 - pixels[i]
    out[i] = pixels[i]
