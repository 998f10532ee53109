from numba import cuda


@cuda.jit
def move_up_kernel(x):
    """Move all elements but the first one place up."""
    if cuda.threadIdx.x == 0:  # one thread works, all others watch
        for i in range(x.size - 1):
            x[i] = x[i + 1]
