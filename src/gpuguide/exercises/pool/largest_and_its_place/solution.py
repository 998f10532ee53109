from numba import cuda, float32, int32


@cuda.jit
def largest_kernel(x, values, places):
    """Find the largest number of a block's part, and the first place where it stands."""
    best = cuda.shared.array(256, float32)
    where = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = min(cuda.grid(1), x.size - 1)  # a thread without an element looks at the last once more
    best[t] = x[i]
    where[t] = i
    half = cuda.blockDim.x // 2
    while half > 0:
        cuda.syncthreads()  # what the last round stored is there for all
        if t < half:
            larger = best[t + half] > best[t]
            earlier = best[t + half] == best[t] and where[t + half] < where[t]
            if larger or earlier:
                best[t] = best[t + half]
                where[t] = where[t + half]
        half //= 2
    if t == 0:
        values[cuda.blockIdx.x] = best[0]
        places[cuda.blockIdx.x] = where[0]
