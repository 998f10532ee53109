from numba import cuda


@cuda.jit
def factor_kernel(factors):
    """Walk the odd multiples of one step, and leave the smaller factor at each."""
    step = 2 * cuda.blockIdx.y + 3
    first = step * step // 2  # smaller multiples have a smaller factor
    stride = step * cuda.gridsize(1)
    for i in range(first + step * cuda.grid(1), factors.size, stride):
        cuda.atomic.min(factors, i, step)
