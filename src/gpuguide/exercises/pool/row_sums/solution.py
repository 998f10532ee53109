from numba import cuda, float32


@cuda.jit
def row_sums_kernel(x, sums):
    """Add up one row in the threads of one warp."""
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    total = float32(0)
    if row < x.shape[0]:
        for col in range(cuda.threadIdx.x, x.shape[1], 32):  # neighbours read neighbours
            total += x[row, col]
    distance = 16
    while distance > 0:  # all threads of the warp come here, with or without a row
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        distance //= 2
    if cuda.threadIdx.x == 0 and row < x.shape[0]:
        sums[row] = total
