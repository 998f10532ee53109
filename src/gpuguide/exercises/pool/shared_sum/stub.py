from numba import cuda


@cuda.jit
def sum_kernel(x, total):
    """Add one element to the total."""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(total, 0, x[i])  # all threads of all blocks queue up here
