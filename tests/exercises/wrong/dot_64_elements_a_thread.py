"""Takes at most 64 elements in each thread.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    s = float32(0)
    i = cuda.grid(1)
    r = 0
    while i < a.size and r < 64:
        s += a[i] * b[i]
        i += cuda.gridsize(1)
        r += 1
    for d in (16, 8, 4, 2, 1):
        s += cuda.shfl_down_sync(0xFFFFFFFF, s, d)
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, s)
