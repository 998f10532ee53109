"""Leaves the loop at the first multiple behind the end, which is no turn."""

from numba import cuda


@cuda.jit(device=True)
def place(number):
    return number // 2


@cuda.jit
def factor_kernel(factors):
    step = 3 + 2 * cuda.blockIdx.y
    first = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(first, factors.size, cuda.gridDim.x * cuda.blockDim.x):
        number = step * (2 * k + 3)
        if place(number) >= factors.size:
            return
        cuda.atomic.min(factors, place(number), step)
