from numba import cuda


@cuda.jit
def add_kernel(x, out):
    """Add one."""
    out[cuda.grid(1)] = x[cuda.grid(1)] + 1  # is there such an element?
