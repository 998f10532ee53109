"""The kernel that is timed: add one to each element."""

from numba import cuda


@cuda.jit
def add_one_kernel(x, out):
    """Each thread takes one element."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0
