"""Leaves the dark pixels as they are.

Found: wrong, never_written.
"""

from numba import cuda


@cuda.jit
def bright_kernel(image, level, mask):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1] and image[row, col] >= level:
        mask[row, col] = 1
