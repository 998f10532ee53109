from numba import cuda, float32


@cuda.jit
def running_totals_kernel(x, totals):
    """Add up one element's part of a block, from the front."""
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(cuda.blockIdx.x * cuda.blockDim.x, i + 1):
            total += x[k]
        totals[i] = total
