"""The square as a power, and the arrays unpacked by another name."""

from numba import cuda as gpu


@gpu.jit("void(float32[:], float32[:], float32[:], float32[:])", fastmath=True)
def weighted_square_kernel(first, second, scale, result):
    i = gpu.threadIdx.x + gpu.blockIdx.x * gpu.blockDim.x
    if i >= result.shape[0]:
        return
    result[i] = scale[i] * (first[i] - second[i]) ** 2
