from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    """Add a multiple of one piece of x to the same piece of y."""
    n_threads = cuda.gridsize(1)
    length = (x.size + n_threads - 1) // n_threads
    start = cuda.grid(1) * length
    for i in range(start, min(start + length, x.size)):
        y[i] += factor * x[i]
