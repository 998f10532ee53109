"""Lets a warp read the bytes of a word and vote, without shared memory."""

from numba import cuda


@cuda.jit
def pack_kernel(crossed, words):
    w = cuda.grid(1)
    first = w - cuda.laneid
    mine = 0
    for k in range(32):
        i = 32 * (first + k) + cuda.laneid
        bits = cuda.ballot_sync(0xFFFFFFFF, i < crossed.size and crossed[i] == 0)
        if k == cuda.laneid:
            mine = bits
    if w < words.size:
        words[w] = mine
