from numba import cuda


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    """Square a difference and give it a weight."""
    i = cuda.grid(1)
    if i < out.size:
        difference = x[i] - y[i]  # stays in a register
        out[i] = difference * difference * weight[i]
