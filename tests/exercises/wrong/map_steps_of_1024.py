"""Walks in steps of a grid of 1024 threads.

Found: limit.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    for i in range(cuda.grid(1), pixels.size, 1024):
        out[i] = 255 - pixels[i]
