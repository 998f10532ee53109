"""Keeps the offsets of 32 columns, where a block may have more.

Found: out_of_range.
"""

from numba import cuda, float32


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    tile = cuda.shared.array(32, float32)
    col, row = cuda.grid(2)
    if cuda.threadIdx.y == 0 and col < offset.size:
        tile[cuda.threadIdx.x] = offset[col]
    cuda.syncthreads()
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = image[row, col] - tile[cuda.threadIdx.x]
