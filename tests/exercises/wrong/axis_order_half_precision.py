"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, float32, types


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(types.float16(image[row, col])) - float32(types.float16(offset[col]))
