"""Lets one thread of each block work for all others.

Found: limit.
"""

from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    if cuda.threadIdx.x == 0:
        start = cuda.blockIdx.x * cuda.blockDim.x
        for i in range(start, start + cuda.blockDim.x):
            out[i] = 255 - pixels[i]
