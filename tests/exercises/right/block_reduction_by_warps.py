"""Shuffles add up a warp, and the first warp adds up what the others found."""

from numba import cuda, float32


@cuda.jit
def block_sums_kernel(x, sums):
    of_warps = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value = x[i] if i < x.size else float32(0)
    if cuda.blockDim.x < 32:
        of_warps[t] = value
        cuda.syncthreads()
        if t == 0:
            few = float32(0)
            for k in range(cuda.blockDim.x):
                few += of_warps[k]
            sums[cuda.blockIdx.x] = few
        return
    for k in range(5):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, 16 >> k)
    if cuda.laneid == 0:
        of_warps[t // 32] = value
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for w in range(cuda.blockDim.x // 32):
            total += of_warps[w]
        sums[cuda.blockIdx.x] = total
