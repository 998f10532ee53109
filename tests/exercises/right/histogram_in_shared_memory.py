"""A histogram for each block in shared memory, added to the one of all at the end."""

from numba import cuda, int32


@cuda.jit
def histogram_kernel(values, counts):
    own = cuda.shared.array(40, int32)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        own[b] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < values.size:
        value = values[i]
        if 0 <= value < counts.size:
            cuda.atomic.add(own, value, 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, own[b])
