"""Copies all elements to shared memory, which has room for 2048.

Found: out_of_range.
"""

from numba import cuda, float32


@cuda.jit
def move_up_kernel(x):
    copy = cuda.shared.array(2048, float32)
    b = cuda.blockDim.x
    n = x.size
    for i in range(cuda.threadIdx.x, n, 4 * b):
        copy[i] = x[i]
        if i + b < n:
            copy[i + b] = x[i + b]
        if i + 2 * b < n:
            copy[i + 2 * b] = x[i + 2 * b]
        if i + 3 * b < n:
            copy[i + 3 * b] = x[i + 3 * b]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, n - 1, 4 * b):
        x[i] = copy[i + 1]
        if i + b < n - 1:
            x[i + b] = copy[i + b + 1]
        if i + 2 * b < n - 1:
            x[i + 2 * b] = copy[i + 2 * b + 1]
        if i + 3 * b < n - 1:
            x[i + 3 * b] = copy[i + 3 * b + 1]
