"""Divides by the level, which may be zero or negative.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def bright_kernel(image, level, mask):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        mask[y, x] = 1 if image[y, x] / level >= 1 else 0
