"""Gives each thread a run of neighbours, whose last one gets what the next run began with."""

from numba import cuda, float32


@cuda.jit
def move_up_kernel(x):
    moved = x.size - 1
    run = (moved + cuda.blockDim.x - 1) // cuda.blockDim.x
    first = run * cuda.threadIdx.x
    last = min(first + run, moved)
    behind = float32(0)
    if first < last:
        behind = x[last]
    cuda.syncthreads()
    for i in range(first, last - 1):
        x[i] = x[i + 1]
    if first < last:
        x[last - 1] = behind
