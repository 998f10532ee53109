"""Works the index out by hand, with x still along the rows.

Found: uncoalesced.
"""

from numba import cuda


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    row = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    col = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = image[row, col] - offset[col]
