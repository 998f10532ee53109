from numba import cuda, int32


@cuda.jit
def keep_positive_kernel(x, kept, counts):
    """Store what is positive in a block's part at the front of the part, in its order."""
    ends = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    keep = i < x.size and x[i] > 0
    ends[t] = 1 if keep else 0
    distance = 1
    while distance < cuda.blockDim.x:
        cuda.syncthreads()  # what the last round stored is there for all
        before = ends[t - distance] if t >= distance else 0
        cuda.syncthreads()  # all have read before anybody adds
        ends[t] += before
        distance *= 2
    if keep:
        kept[cuda.blockIdx.x * cuda.blockDim.x + ends[t] - 1] = x[i]
    if t == cuda.blockDim.x - 1:
        counts[cuda.blockIdx.x] = ends[t]
