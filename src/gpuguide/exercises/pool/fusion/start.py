from numba import cuda


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    """Square a difference and give it a weight."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] - y[i]
        out[i] = out[i] * out[i]  # back from memory, twice
        out[i] = out[i] * weight[i]
