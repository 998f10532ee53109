from numba import cuda


@cuda.jit
def move_on_kernel(x):
    """Move one element of a block's part one place on."""
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    length = min(cuda.blockDim.x, x.size - start)
    if i < x.size:
        value = x[i]
    # No thread writes before all have read. Outside the guards, all threads reach the barrier.
    cuda.syncthreads()
    if i < x.size:
        x[start + (cuda.threadIdx.x + 1) % length] = value
