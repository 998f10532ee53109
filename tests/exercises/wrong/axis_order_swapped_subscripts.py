"""Swaps the subscripts instead of the axes.

Found: out_of_range, wrong.
"""

from numba import cuda


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[col, row] = image[col, row] - offset[row]
