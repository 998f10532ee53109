import math

from numba import cuda, float32


@cuda.jit
def softmax_kernel(x, out):
    """Divide the exponentials of a row by their sum, in the threads of one warp."""
    row = cuda.blockIdx.x
    if row < x.shape[0]:
        largest = float32(-math.inf)
        for col in range(cuda.threadIdx.x, x.shape[1], 32):
            largest = max(largest, x[row, col])
        for distance in (16, 8, 4, 2, 1):  # afterwards all threads have the largest
            largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, distance))
        total = float32(0)
        for col in range(cuda.threadIdx.x, x.shape[1], 32):
            total += math.exp(x[row, col] - largest)  # at most 1
        for distance in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, distance)
        for col in range(cuda.threadIdx.x, x.shape[1], 32):
            out[row, col] = math.exp(x[row, col] - largest) / total
