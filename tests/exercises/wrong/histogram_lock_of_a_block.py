"""Locks out the own block, while other blocks have a lock of their own.

Found: came_between.
"""

from numba import cuda, int32


@cuda.jit
def histogram_kernel(values, counts):
    lock = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        lock[0] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < values.size:
        b = values[i]
        if 0 <= b < counts.size:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            c = cuda.atomic.add(counts, b, 0)
            cuda.atomic.exch(counts, b, c + 1)
            cuda.atomic.exch(lock, 0, 0)
