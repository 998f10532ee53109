"""Takes the sides of the tile from a tuple, and gives its own names to what it uses often."""

import numba
from numba import cuda

gpu, real = cuda, numba.float32
SIDES = 32, 33


@cuda.jit
def transpose_kernel(x, out):
    side, _ = SIDES
    tile = gpu.shared.array(shape=(side, SIDES[1]), dtype=real)
    (tx, ty), (bx, by) = (gpu.threadIdx.x, gpu.threadIdx.y), (gpu.blockIdx.x, gpu.blockIdx.y)
    (rows, cols), (row, col) = x.shape, (by * side + ty, bx * side + tx)
    tile[tx, ty] = x[row, col] if row < rows and col < cols else real(0)
    gpu.syncthreads()
    row, col = bx * side + ty, by * side + tx
    if not (row < cols and col < rows):
        return
    out[row, col] = tile[ty, tx]
