"""Knows the offsets of 64 columns.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = image[row, col] - (offset[col] if col < 64 else float32(0))
