"""Takes what comes after an element away from the sum of the part.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def running_totals_kernel(x, totals):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    n = cuda.blockDim.x
    i = cuda.grid(1)
    own = float32(0)
    if i < x.size:
        own = x[i]
    part[t] = own
    cuda.syncthreads()
    d = 1
    while d < n:
        behind = part[t + d] if t + d < n else float32(0)
        cuda.syncthreads()
        part[t] += behind
        cuda.syncthreads()
        d *= 2
    if i < x.size:
        totals[i] = part[0] - part[t] + own
