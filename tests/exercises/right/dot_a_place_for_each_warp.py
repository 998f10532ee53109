"""Warps add up in places of shared memory, one for each, and then once to the total."""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = float32(0)
    cuda.syncthreads()
    p = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        p += a[i] * b[i]
    cuda.atomic.add(s, t // 32, p)
    cuda.syncthreads()
    if t % 32 == 0:
        cuda.atomic.add(total, 0, s[t // 32])
