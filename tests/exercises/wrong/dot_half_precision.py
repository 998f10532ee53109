"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, float32, types


@cuda.jit
def dot_kernel(a, b, total):
    s = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += float32(types.float16(a[i])) * float32(types.float16(b[i]))
    for d in (16, 8, 4, 2, 1):
        s += cuda.shfl_down_sync(0xFFFFFFFF, s, d)
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, s)
