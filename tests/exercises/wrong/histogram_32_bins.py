"""Has room for 32 bins, and there may be more.

Found: out_of_range, wrong.
"""

from numba import cuda, int32

MOST_BINS = 32


@cuda.jit
def histogram_kernel(values, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    n_bins = counts.shape[0]
    t = cuda.threadIdx.x
    for b in range(t, n_bins, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()

    i = cuda.blockIdx.x * cuda.blockDim.x + t
    if i < len(values):
        v = values[i]
        if v >= 0 and v < n_bins:
            cuda.atomic.add(mine, v, 1)
    cuda.syncthreads()

    for b in range(t, n_bins, cuda.blockDim.x):
        if mine[b] > 0:
            cuda.atomic.add(counts, b, mine[b])
