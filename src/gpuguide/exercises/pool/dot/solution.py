from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    """Add up products per thread, then per warp, then in the total."""
    partial = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        partial += a[i] * b[i]
    distance = 16
    while distance > 0:
        # Threads of a warp read each other's registers: no memory, no barrier.
        partial += cuda.shfl_down_sync(0xFFFFFFFF, partial, distance)
        distance //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, partial)
