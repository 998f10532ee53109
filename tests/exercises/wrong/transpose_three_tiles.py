"""Transposes three tiles along each side.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((32, 33), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        tile[ty, tx] = x[row, col]
    cuda.syncthreads()
    r = cuda.blockIdx.x * 32 + ty
    c = cuda.blockIdx.y * 32 + tx
    if r < out.shape[0] and c < out.shape[1] and cuda.blockIdx.x < 3 and cuda.blockIdx.y < 3:
        out[r, c] = tile[tx, ty]
