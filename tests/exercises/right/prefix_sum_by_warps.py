"""Shuffles within a warp, then the sums of the warps before."""

from numba import cuda, float32


@cuda.jit
def running_totals_kernel(x, totals):
    of_warps = cuda.shared.array(8, float32)
    lane, warp = cuda.laneid, cuda.threadIdx.x // 32
    i = cuda.grid(1)
    value = x[i] if i < x.size else float32(0)
    mask = 0xFFFFFFFF if cuda.blockDim.x >= 32 else (1 << cuda.blockDim.x) - 1
    for k in range(5):
        before = cuda.shfl_up_sync(mask, value, 1 << k)
        if lane >= 1 << k:
            value += before
    if lane == 31:
        of_warps[warp] = value
    cuda.syncthreads()
    for w in range(warp):
        value += of_warps[w]
    if i < x.size:
        totals[i] = value
