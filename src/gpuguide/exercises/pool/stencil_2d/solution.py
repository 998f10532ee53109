from numba import cuda, float32


@cuda.jit
def heat_kernel(now, then):
    """Compute one cell of the plate after a step, from the tile of its block."""
    tile = cuda.shared.array((10, 10), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 8 - 1, cuda.blockIdx.x * 8 - 1  # what tile[0, 0] stands for
    rows, cols = now.shape
    # There are more places than threads, so some fill two or four.
    for i in range(ty, 10, 8):
        for j in range(tx, 10, 8):
            row, col = top + i, left + j
            if 0 <= row < rows and 0 <= col < cols:
                tile[i, j] = now[row, col]
    cuda.syncthreads()  # the tile is complete
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        if 0 < row < rows - 1 and 0 < col < cols - 1:
            up_and_down = tile[ty, tx + 1] + tile[ty + 2, tx + 1]
            sides = tile[ty + 1, tx] + tile[ty + 1, tx + 2]
            then[row, col] = float32(0.25) * (up_and_down + sides)
        else:
            then[row, col] = tile[ty + 1, tx + 1]
