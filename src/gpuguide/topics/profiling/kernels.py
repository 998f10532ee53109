"""The sum of each row of a matrix: by a thread for each row, and by a warp for each row."""

from numba import cuda, float32


@cuda.jit
def thread_per_row(a, out):
    """Each thread adds up a row of its own."""
    row = cuda.grid(1)
    if row < a.shape[0]:
        total = float32(0)
        for col in range(a.shape[1]):
            total += a[row, col]
        out[row] = total


@cuda.jit
def warp_per_row(a, out):
    """Each warp adds up a row, its 32 threads side by side."""
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    if row < a.shape[0]:
        total = float32(0)
        for col in range(lane, a.shape[1], 32):
            total += a[row, col]
        for distance in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        if lane == 0:
            out[row] = total
