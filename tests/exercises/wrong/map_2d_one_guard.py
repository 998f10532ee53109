"""Guards the columns and forgets the rows.

Found: out_of_range.
"""

from numba import cuda


@cuda.jit
def bright_kernel(image, level, mask):
    col, row = cuda.grid(2)
    if col < image.shape[1]:
        mask[row, col] = 1 if image[row, col] >= level else 0
