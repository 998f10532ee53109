"""Kernels that write, copy, read two arrays for each they write, and only read."""

import numpy as np
from numba import cuda


@cuda.jit
def write(out):
    """Each thread writes four numbers, a block's width apart."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    for _ in range(4):
        if i < out.size:
            out[i] = i & (2**24 - 1)  # float32 holds whole numbers up to there
        i += width


@cuda.jit
def copy(a, out):
    """Each thread copies four elements, and loads all before it stores one."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    if i + 3 * width < out.size:  # four loads are on their way before the first store
        first, second, third, fourth = a[i], a[i + width], a[i + 2 * width], a[i + 3 * width]
        out[i] = first
        out[i + width] = second
        out[i + 2 * width] = third
        out[i + 3 * width] = fourth
    else:
        while i < out.size:
            out[i] = a[i]
            i += width


@cuda.jit
def two_to_one(a, b, out):
    """Each thread takes the larger of a pair, four times."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    if i + 3 * width < out.size:
        first, second, third, fourth = a[i], a[i + width], a[i + 2 * width], a[i + 3 * width]
        fifth, sixth, seventh, eighth = b[i], b[i + width], b[i + 2 * width], b[i + 3 * width]
        out[i] = max(first, fifth)
        out[i + width] = max(second, sixth)
        out[i + 2 * width] = max(third, seventh)
        out[i + 3 * width] = max(fourth, eighth)
    else:
        while i < out.size:
            out[i] = max(a[i], b[i])
            i += width


@cuda.jit
def read(a, out):
    """Each block adds up 4096 neighbours: sixteen per thread, then a tree in shared memory."""
    sums = cuda.shared.array(256, np.float32)
    thread = cuda.threadIdx.x
    first = cuda.blockIdx.x * 4096 + thread
    total = np.float32(0)
    if first - thread + 4096 <= a.size:
        for k in range(16):
            total += a[first + k * 256]
    else:
        for i in range(first, a.size, 256):
            total += a[i]
    sums[thread] = total
    half = 128
    while half > 0:
        cuda.syncthreads()  # the sums of the round before are all there
        if thread < half:
            sums[thread] += sums[thread + half]
        half //= 2
    if thread == 0:  # it wrote the last sum itself, so no barrier is needed here
        out[cuda.blockIdx.x] = sums[0]
