from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    """Keep the larger one of two values."""
    i = cuda.grid(1)
    out[i] = max(a[i], b[i])  # is there an element i at all?
