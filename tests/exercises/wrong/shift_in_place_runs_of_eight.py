"""Gives each thread eight elements, however many there are.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def move_up_kernel(x):
    first = 8 * cuda.threadIdx.x
    last = min(first + 8, x.size - 1)
    behind = float32(0)
    if first < last:
        behind = x[last]
    cuda.syncthreads()
    for i in range(first, last - 1):
        x[i] = x[i + 1]
    if first < last:
        x[last - 1] = behind
