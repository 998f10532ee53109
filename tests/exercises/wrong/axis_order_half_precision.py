"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, float16, float32


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(float16(image[row, col])) - float32(float16(offset[col]))
