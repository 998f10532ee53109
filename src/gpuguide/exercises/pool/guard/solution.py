from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    """Keep the larger one of two values."""
    i = cuda.grid(1)
    if i < out.size:  # threads come in whole blocks: the last ones may have no element
        out[i] = max(a[i], b[i])
