from numba import cuda, float32


@cuda.jit
def matmul_kernel(a, b, c):
    """Multiply two matrices tile by tile."""
    tile_a = cuda.shared.array((8, 8), float32)
    tile_b = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, a.shape[1], 8):
        tile_a[ty, tx] = tile_b[ty, tx] = float32(0)  # what lies outside
        if row < a.shape[0] and start + tx < a.shape[1]:
            tile_a[ty, tx] = a[row, start + tx]
        if start + ty < b.shape[0] and col < b.shape[1]:
            tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()  # both tiles are complete
        for k in range(8):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()  # all have read before anybody overwrites
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
