from numba import cuda, float32


@cuda.jit
def running_totals_kernel(x, totals):
    """Add from twice as far to the left in each round."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)  # no element adds nothing
    distance = 1
    while distance < cuda.blockDim.x:
        cuda.syncthreads()  # what the last round stored is there for all
        before = part[t - distance] if t >= distance else float32(0)
        cuda.syncthreads()  # all have read before anybody adds
        part[t] += before
        distance *= 2
    if i < x.size:
        totals[i] = part[t]
