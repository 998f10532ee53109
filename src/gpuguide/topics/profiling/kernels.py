"""A matrix with rows and columns exchanged: a number in each thread, and through a tile in shared memory."""

from numba import cuda, float32


@cuda.jit
def turn_by_threads(x, out):
    """Each thread moves one number."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = x[row, col]


@cuda.jit
def turn_by_tiles(x, out):
    """Each block moves a tile of 32 by 32 numbers through shared memory."""
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col0 = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for j in range(0, 32, 8):
        row, col = row0 + ty + j, col0 + tx
        if row < x.shape[0] and col < x.shape[1]:
            tile[ty + j, tx] = x[row, col]
    cuda.syncthreads()
    for j in range(0, 32, 8):
        row, col = col0 + ty + j, row0 + tx
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = tile[tx, ty + j]
