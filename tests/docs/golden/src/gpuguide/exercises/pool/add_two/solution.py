from numba import cuda


@cuda.jit
def add_kernel(x, out):
    """Add one."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1
