"""Elements outside by a conditional expression, and a padded tile."""

from numba import cuda, float32


@cuda.jit
def matmul_kernel(a, b, c):
    left = cuda.shared.array((8, 9), float32)
    right = cuda.shared.array((8, 9), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.y * 8 + y
    j = cuda.blockIdx.x * 8 + x
    total = float32(0)
    for t in range((a.shape[1] + 7) // 8):
        left[y, x] = a[i, 8 * t + x] if i < a.shape[0] and 8 * t + x < a.shape[1] else float32(0)
        right[y, x] = b[8 * t + y, j] if 8 * t + y < b.shape[0] and j < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(8):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = total
