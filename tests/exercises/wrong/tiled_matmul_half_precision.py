"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, float32, types


@cuda.jit
def matmul_kernel(a, b, c):
    ta = cuda.shared.array((8, 8), types.float16)
    tb = cuda.shared.array((8, 8), types.float16)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    m, n = a.shape
    p = b.shape[1]
    total = float32(0)
    for k0 in range(0, n, 8):
        ta[ty, tx] = a[row, k0 + tx] if row < m and k0 + tx < n else float32(0)
        tb[ty, tx] = b[k0 + ty, col] if k0 + ty < n and col < p else float32(0)
        cuda.syncthreads()
        for k in range(8):
            total += float32(ta[ty, k]) * float32(tb[k, tx])
        cuda.syncthreads()
    if row < m and col < p:
        c[row, col] = total
