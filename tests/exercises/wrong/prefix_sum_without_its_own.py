"""Leaves the element itself out.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def running_totals_kernel(x, totals):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own = x[i] if i < x.size else float32(0)
    part[t] = own
    distance = 1
    while distance < cuda.blockDim.x:
        cuda.syncthreads()  # what the last round stored is there for all
        before = part[t - distance] if t >= distance else float32(0)
        cuda.syncthreads()  # all have read before anybody adds
        part[t] += before
        distance *= 2
    if i < x.size:
        totals[i] = part[t] - own
