"""Takes zero, in 64 bits, where there is no element.

Found: float64.
"""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    partial = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        partial += a[i] * b[i] if i < a.size else float(0)
    distance = 16
    while distance > 0:
        partial += cuda.shfl_down_sync(0xFFFFFFFF, partial, distance)
        distance //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, partial)
