"""Two arrays take turns, with one barrier a round."""

from numba import cuda, float32


@cuda.jit
def running_totals_kernel(x, totals):
    parts = cuda.shared.array((2, 256), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    parts[0, t] = x[i] if i < x.size else float32(0)
    here = 0
    distance = 1
    while distance < cuda.blockDim.x:
        cuda.syncthreads()
        value = parts[here, t]
        if t >= distance:
            value += parts[here, t - distance]
        parts[1 - here, t] = value
        here = 1 - here
        distance *= 2
    if i < x.size:
        totals[i] = parts[here, t]
