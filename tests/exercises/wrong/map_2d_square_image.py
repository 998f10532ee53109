"""Takes the image for a square.

Found: out_of_range, wrong.
"""

from numba import cuda


@cuda.jit
def bright_kernel(image, level, mask):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[0]:
        mask[row, col] = 1 if image[row, col] >= level else 0
