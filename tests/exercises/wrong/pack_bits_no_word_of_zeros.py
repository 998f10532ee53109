"""Leaves a word out whose bits are all 0, as if it held zeros.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def pack_kernel(crossed, words):
    lane = cuda.threadIdx.x % 32
    first = cuda.grid(1) - lane
    for k in range(32):
        w = first + k
        if w < words.size:
            vote = cuda.ballot_sync(0xFFFFFFFF, crossed[32 * w + lane] == 0)
            if lane == 0 and vote != 0:
                words[w] = vote
