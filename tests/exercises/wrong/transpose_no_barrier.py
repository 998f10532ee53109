"""Writes the tile out before it is complete.

Found: race.
"""

from numba import cuda, float32


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        tile[ty, tx] = x[row, col]
    row = cuda.blockIdx.x * 32 + ty
    col = cuda.blockIdx.y * 32 + tx
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = tile[tx, ty]
