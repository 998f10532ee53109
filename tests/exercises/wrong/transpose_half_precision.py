"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, types


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((32, 34), types.float16)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    rows, columns = x.shape
    if row < rows and col < columns:
        tile[ty, tx] = x[row, col]
    cuda.syncthreads()
    j = cuda.blockIdx.x * 32 + ty
    i = cuda.blockIdx.y * 32 + tx
    if i < rows and j < columns:
        out[j, i] = tile[tx, ty]
