"""Takes the row from x and the column from y.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def bright_kernel(image, level, mask):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        mask[row, col] = 1 if image[row, col] >= level else 0
