"""Adds up in single precision, which is not exact for large sums.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def sum_kernel(x, total):
    s = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        s[0] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(s, 0, x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, int(s[0]))
