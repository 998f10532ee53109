"""Leaves a word out whose bits are all 0, read from shared memory.

Found: wrong.
"""

from numba import cuda, uint8


@cuda.jit
def pack_kernel(crossed, words):
    tile = cuda.shared.array((64, 36), dtype=uint8)
    t = cuda.threadIdx.x
    w = cuda.grid(1)
    for r in range(t // 32, 64, 2):
        p = (cuda.blockIdx.x * 64 + r) * 32 + t % 32
        if p < crossed.size:
            tile[r, t % 32] = crossed[p]
    cuda.syncthreads()
    bits = 0
    if w < words.size:
        for k in range(32):
            if tile[t, k] == 0:
                bits |= 1 << k
    if bits:
        words[w] = bits
