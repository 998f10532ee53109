"""Kernels that write, copy, read two arrays for each they write, and only read."""

import numpy as np
from numba import cuda

ITEMS_PER_THREAD = 4
PATTERN = 2**24 - 1  # whole numbers up to here are exact in float32
THREADS_PER_BLOCK = 256
TILE = 4096  # elements that one block adds up


@cuda.jit
def write_kernel(out):
    """Each thread writes four numbers, a block's width apart, that it works out from their places."""
    width = cuda.blockDim.x
    first = cuda.blockIdx.x * width * ITEMS_PER_THREAD + cuda.threadIdx.x
    for k in range(ITEMS_PER_THREAD):
        i = first + k * width
        if i < out.size:
            out[i] = i & PATTERN


@cuda.jit
def copy_kernel(a, out):
    """Each thread copies four elements, a block's width apart, and loads all before it stores one."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    if i + 3 * width < out.size:
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
def two_to_one_kernel(a, b, out):
    """Each thread takes the larger of two elements, four times, and loads all before it stores one."""
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
def block_sums_kernel(a, out):
    """Each block adds up 4096 neighbours: sixteen a thread, then a tree in shared memory."""
    sums = cuda.shared.array(THREADS_PER_BLOCK, np.float32)
    thread = cuda.threadIdx.x
    first = cuda.blockIdx.x * TILE + thread
    total = np.float32(0)
    if first - thread + TILE <= a.size:
        for k in range(16):
            total += a[first + k * THREADS_PER_BLOCK]
    else:
        for i in range(first, a.size, THREADS_PER_BLOCK):
            total += a[i]
    sums[thread] = total
    half = THREADS_PER_BLOCK // 2
    while half > 0:
        cuda.syncthreads()  # the sums of the round before are all there
        if thread < half:
            sums[thread] += sums[thread + half]
        half //= 2
    # It wrote the last sum itself, so that no barrier is needed here.
    if thread == 0:
        out[cuda.blockIdx.x] = sums[0]
