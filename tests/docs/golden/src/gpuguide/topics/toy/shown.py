"""Kernels that a page shows and nobody runs."""

from numba import cuda

SCALE_SOURCE = r"""
extern "C" __global__ void scale(float* x) {
    int i = threadIdx.x;  // each thread
    x[i] = 2 * x[i];
}
"""


# Adds one.
@cuda.jit
def add_one_kernel(x):
    """Add one to every element
    of a vector.

    Parameters
    ----------
    x : device array
        Changed in place.
    """
    x[cuda.grid(1)] += 1


@cuda.jit
def half(x):
    """On its page, a variable is called so."""
    x[cuda.grid(1)] /= 2
