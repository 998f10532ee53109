"""Writes 0 where no byte is marked, where all bits must be 1.

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
            c = crossed[32 * w + lane] == 1
            if cuda.any_sync(0xFFFFFFFF, c):
                vote = cuda.ballot_sync(0xFFFFFFFF, not c)
                if lane == 0:
                    words[w] = vote
            elif lane == 0:
                words[w] = 0
