"""Sets each bit in the result by an atomic operation, after zeros were written there."""

from numba import cuda, uint32


@cuda.jit
def pack_kernel(crossed, words):
    t = cuda.threadIdx.x
    first = 2048 * cuda.blockIdx.x
    w = cuda.grid(1)
    if w < words.size:
        words[w] = 0
    cuda.syncthreads()
    for i in range(first + t, min(first + 2048, crossed.size), 64):
        if crossed[i] == 0:
            cuda.atomic.or_(words, i // 32, uint32(1) << uint32(i % 32))
