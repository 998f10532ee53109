"""Takes a pixel of 0 for one without a value.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        p = image[row, col]
        if p == 0:
            out[row, col] = 0
        else:
            out[row, col] = p - offset[col]
