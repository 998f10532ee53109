"""Gives each thread a row to walk along.

Found: limit, uncoalesced.
"""

from numba import cuda


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    row, y = cuda.grid(2)
    if row < image.shape[0] and y == 0:
        for col in range(image.shape[1]):
            out[row, col] = image[row, col] - offset[col]
