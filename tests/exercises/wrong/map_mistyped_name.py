"""A mistyped name of cuda.

Found: compile.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    i = cuda.gird(1)
    out[i] = 255 - pixels[i]
