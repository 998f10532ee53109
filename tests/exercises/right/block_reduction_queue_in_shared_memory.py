"""No tree: the threads queue up at one sum in shared memory, where atomic operations are allowed."""

from numba import cuda, float32


@cuda.jit
def block_sums_kernel(x, sums):
    total = cuda.shared.array(1, float32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(total, 0, x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = total[0]
