"""Adds up over a warp in shared memory, with room for the largest block."""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    sh = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] * b[i]
    sh[t] = s
    cuda.syncwarp()
    lane = t % 32
    d = 16
    while d >= 1:
        if lane < d:
            sh[t] += sh[t + d]
        cuda.syncwarp()
        d = d // 2
    if lane == 0:
        cuda.atomic.add(total, 0, sh[t])
