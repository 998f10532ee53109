"""Takes the first 512 pixels alone.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    i = cuda.grid(1)
    if i < 512:
        out[i] = 255 - pixels[i]
