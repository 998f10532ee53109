from numba import cuda, float32, int32


@cuda.jit
def largest_kernel(x, values, places):
    """Find the largest number of a block's part, and where it stands."""
    best = cuda.shared.array(256, float32)
    where = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = min(cuda.grid(1), x.size - 1)
    best[t] = x[i]
    where[t] = i
    half = cuda.blockDim.x // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            best[t] = max(best[t], best[t + half])  # and where does it stand?
        half //= 2
    if t == 0:
        values[cuda.blockIdx.x] = best[0]
        places[cuda.blockIdx.x] = where[0]
