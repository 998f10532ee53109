"""A tree in shared memory instead of shuffles."""

from numba import cuda, float32


@cuda.jit
def row_sums_kernel(x, sums):
    part = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.grid(2)[1]
    total = float32(0)
    if row < x.shape[0]:
        for col in range(tx, x.shape[1], cuda.blockDim.x):
            total += x[row, col]
    part[ty, tx] = total
    cuda.syncthreads()
    half = 16
    while half > 0:
        if tx < half:
            part[ty, tx] += part[ty, tx + half]
        cuda.syncthreads()
        half >>= 1
    if tx == 0 and row < x.shape[0]:
        sums[row] = part[ty, 0]
