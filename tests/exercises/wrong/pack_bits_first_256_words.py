"""Packs 256 words at most.

Found: wrong.
"""

from numba import cuda, uint8


@cuda.jit
def pack_kernel(crossed, words):
    tile = cuda.shared.array(2048, uint8)
    t = cuda.threadIdx.x
    first = 2048 * cuda.blockIdx.x
    for i in range(t, min(2048, crossed.size - first), 64):
        tile[i] = crossed[first + i]
    cuda.syncthreads()
    w = cuda.grid(1)
    if w < min(words.size, 256):
        bits = 0
        for k in range(32):
            place = (k + t) % 32
            if tile[32 * t + place] == 0:
                bits |= 1 << place
        words[w] = bits
