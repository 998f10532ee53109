"""Hands the shuffle to another function, which calls it by a name of its own."""

from numba import cuda, float32


@cuda.jit(device=True)
def from_below(value, distance):
    return cuda.shfl_down_sync(0xFFFFFFFF, value, distance)


@cuda.jit(device=True)
def in_steps(step, value):
    for distance in (16, 8, 4):
        value += step(value, distance)
    return value


@cuda.jit
def row_sums_kernel(x, sums):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    total = float32(0)
    if row < x.shape[0]:
        for col in range(cuda.threadIdx.x, x.shape[1], 32):
            total += x[row, col]
    total = in_steps(from_below, total)
    total += (lambda value: cuda.shfl_down_sync(0xFFFFFFFF, value, 2))(total)  # noqa: PLC3002
    below = from_below
    total += below(total, 1)
    if cuda.threadIdx.x == 0 and row < x.shape[0]:
        sums[row] = total
