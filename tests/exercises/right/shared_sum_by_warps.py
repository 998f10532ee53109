"""Adds up in each warp, then over the warps: a block's queue in shared memory is not needed either."""

from numba import cuda, int32


@cuda.jit
def sum_kernel(x, total):
    sums = cuda.shared.array(8, int32)
    i = cuda.grid(1)
    value = x[i] if i < x.size else int32(0)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    n_lanes = min(32, cuda.blockDim.x - 32 * warp)  # the last warp may have fewer
    mask = 0xFFFFFFFF >> (32 - n_lanes)
    for distance in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(mask, value, distance)
        if lane + distance < n_lanes:
            value += other
    if lane == 0:
        sums[warp] = value
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        block_sum = int32(0)
        for k in range((cuda.blockDim.x + 31) // 32):
            block_sum += sums[k]
        cuda.atomic.add(total, 0, block_sum)
