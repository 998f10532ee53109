from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    """Add a multiple of x to y, for this thread's elements."""
    # In each round the whole grid works on neighbours, so a warp's request touches few sectors.
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] += factor * x[i]
