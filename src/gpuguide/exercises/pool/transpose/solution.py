from numba import cuda, float32


@cuda.jit
def transpose_kernel(x, out):
    """Turn one tile round in shared memory, and read and write along rows."""
    tile = cuda.shared.array((32, 33), float32)  # 33: a column lies in 32 different banks
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        tile[ty, tx] = x[row, col]
    cuda.syncthreads()  # the tile is complete
    # The tile at (block y, block x) of x goes to (block x, block y) of out.
    row = cuda.blockIdx.x * 32 + ty
    col = cuda.blockIdx.y * 32 + tx
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = tile[tx, ty]
