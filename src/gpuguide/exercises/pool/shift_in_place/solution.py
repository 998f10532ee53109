from numba import cuda


@cuda.jit
def move_up_kernel(x):
    """Move all elements but the first one place up, a block's width at a time."""
    # The loop is the same for all threads, so that all come to each barrier.
    for start in range(0, x.size - 1, cuda.blockDim.x):
        i = start + cuda.threadIdx.x
        value = x[min(i + 1, x.size - 1)]
        cuda.syncthreads()  # all have read before anybody writes
        if i < x.size - 1:
            x[i] = value
