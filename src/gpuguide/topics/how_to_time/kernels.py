"""The kernel that is timed: add one to each element; and a loop for the CPU that does the same."""

from numba import cuda, njit, prange


@njit(parallel=True)
def add_one_threads(x, out):
    """Share the elements out among all threads of the CPU."""
    for i in prange(x.size):
        out[i] = x[i] + 1.0


@cuda.jit
def add_one_kernel(x, out):
    """Each thread takes one element."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0
