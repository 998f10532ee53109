"""Adds up in c itself; only what comes from a and b is to be read once."""

from numba import cuda, float32


@cuda.jit
def matmul_kernel(a, b, c):
    ta = cuda.shared.array((8, 8), float32)
    tb = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    m, n = a.shape
    p = b.shape[1]
    inside = row < m and col < p
    if inside:
        c[row, col] = 0
    for k0 in range(0, n, 8):
        ta[ty, tx] = a[row, k0 + tx] if row < m and k0 + tx < n else float32(0)
        tb[ty, tx] = b[k0 + ty, col] if k0 + ty < n and col < p else float32(0)
        cuda.syncthreads()
        for k in range(8):
            if inside:
                c[row, col] += ta[ty, k] * tb[k, tx]
        cuda.syncthreads()
