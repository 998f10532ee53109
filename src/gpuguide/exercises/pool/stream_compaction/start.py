from numba import cuda


@cuda.jit
def keep_positive_kernel(x, kept, counts):
    """Store what is positive in a block's part, one thread for all."""
    if cuda.threadIdx.x == 0:
        first = cuda.blockIdx.x * cuda.blockDim.x
        n = 0
        for i in range(first, min(first + cuda.blockDim.x, x.size)):
            if x[i] > 0:
                kept[first + n] = x[i]
                n += 1
        counts[cuda.blockIdx.x] = n
