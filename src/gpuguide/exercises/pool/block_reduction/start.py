from numba import cuda, float32


@cuda.jit
def block_sums_kernel(x, sums):
    """Add up the part of one block."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(cuda.blockDim.x):  # one thread adds, all others wait
            total += part[k]
        sums[cuda.blockIdx.x] = total
