"""Keeps three decimals.

Found: wrong.
"""

import math

from numba import cuda


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = math.floor((image[row, col] - offset[col]) * 1000) / 1000
