from numba import cuda, int32


@cuda.jit
def sum_kernel(x, total):
    """Add the elements of one block to the total."""
    block_sum = cuda.shared.array(1, int32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        block_sum[0] = 0  # shared memory holds what the last block left there
    cuda.syncthreads()  # set before anybody adds
    if i < x.size:
        cuda.atomic.add(block_sum, 0, x[i])
    cuda.syncthreads()  # complete before it is carried over
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, block_sum[0])  # other blocks do the same
