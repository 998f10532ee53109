"""Sets each bit in shared memory by an atomic operation, which the statement allows."""

from numba import cuda, uint32


@cuda.jit
def pack_kernel(crossed, words):
    packed = cuda.shared.array(64, uint32)
    t = cuda.threadIdx.x
    first = 2048 * cuda.blockIdx.x
    packed[t] = 0
    cuda.syncthreads()
    for i in range(t, min(2048, crossed.size - first), 64):
        if crossed[first + i] == 0:
            cuda.atomic.or_(packed, i // 32, uint32(1) << (i % 32))
    cuda.syncthreads()
    w = cuda.grid(1)
    if w < words.size:
        words[w] = packed[t]
