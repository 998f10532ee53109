from numba import cuda


@cuda.jit
def factor_kernel(factors):
    """Try the divisors of some numbers one after the other."""
    if cuda.blockIdx.y == 0:  # all other rows of blocks are idle
        for i in range(cuda.grid(1), factors.size, cuda.gridsize(1)):
            number = 2 * i + 1
            divisor = 3
            while divisor * divisor <= number and number % divisor != 0:
                divisor += 2
            if divisor * divisor <= number:
                factors[i] = divisor
