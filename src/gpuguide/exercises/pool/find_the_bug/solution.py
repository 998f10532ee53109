from numba import cuda, float32


@cuda.jit
def spread_kernel(x, out, rounds):
    """Let each block's largest values spread to both sides, one place each round."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    last = min(cuda.blockDim.x, x.size - cuda.blockIdx.x * cuda.blockDim.x) - 1
    if i < x.size:
        part[t] = x[i]
    cuda.syncthreads()  # all elements are there
    for _ in range(rounds):
        if i < x.size:
            largest = max(part[max(t - 1, 0)], part[t], part[min(t + 1, last)])
        cuda.syncthreads()  # all have read what they need
        if i < x.size:
            part[t] = largest
        cuda.syncthreads()  # all have written before the next round reads
    if i < x.size:
        out[i] = part[t]
