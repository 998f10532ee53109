"""Warps meet in shared memory, and a block adds once."""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    of_block = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        of_block[0] = 0
    cuda.syncthreads()
    partial = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        partial += a[i] * b[i]
    cuda.atomic.add(of_block, 0, partial)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, of_block[0])
