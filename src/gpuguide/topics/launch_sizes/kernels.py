"""Kernels for the larger of two numbers, at one to eight elements per thread; an empty one; a stamped one."""

import functools
import math

import numpy as np
from numba import cuda

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import raw_kernel


@cuda.jit(device=True)
def larger(x, y):
    """Return the larger number; not a number (NaN) if one of the two is none."""
    return x if x > y or math.isnan(x) else y


@cuda.jit
def maximum_one_kernel(a, b, out):
    """Each thread takes the element that has its own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = larger(a[i], b[i])


@cuda.jit
def maximum_two_kernel(a, b, out):
    """Each thread takes two elements, a block's width apart."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 2 + cuda.threadIdx.x
    if i + width < out.size:
        a0, a1 = a[i], a[i + width]
        b0, b1 = b[i], b[i + width]
        out[i] = larger(a0, b0)
        out[i + width] = larger(a1, b1)
    elif i < out.size:
        out[i] = larger(a[i], b[i])


@cuda.jit
def maximum_four_kernel(a, b, out):
    """Each thread takes four elements: eight loads before the first store."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    if i + 3 * width < out.size:
        a0, a1, a2, a3 = a[i], a[i + width], a[i + 2 * width], a[i + 3 * width]
        b0, b1, b2, b3 = b[i], b[i + width], b[i + 2 * width], b[i + 3 * width]
        out[i] = larger(a0, b0)
        out[i + width] = larger(a1, b1)
        out[i + 2 * width] = larger(a2, b2)
        out[i + 3 * width] = larger(a3, b3)
    else:
        while i < out.size:  # the last block
            out[i] = larger(a[i], b[i])
            i += width


@cuda.jit
def maximum_eight_kernel(a, b, out):
    """Each thread takes eight elements: sixteen loads before the first store."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 8 + cuda.threadIdx.x
    # The compiler unrolls both loops and keeps the small arrays in registers.
    left = cuda.local.array(8, np.float32)
    right = cuda.local.array(8, np.float32)
    if i + 7 * width < out.size:
        for k in range(8):
            left[k] = a[i + k * width]
            right[k] = b[i + k * width]
        for k in range(8):
            out[i + k * width] = larger(left[k], right[k])
    else:
        while i < out.size:
            out[i] = larger(a[i], b[i])
            i += width


@cuda.jit
def maximum_grid_stride_kernel(a, b, out):
    """Each thread takes an element, then the one a whole grid further on."""
    i = cuda.grid(1)
    stride = cuda.gridsize(1)
    while i < out.size:
        out[i] = larger(a[i], b[i])
        i += stride


@cuda.jit
def maximum_four_grid_stride_kernel(a, b, out):
    """Each thread takes four elements, then four a whole grid further on."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    stride = cuda.gridDim.x * width * 4
    while i + 3 * width < out.size:
        a0, a1, a2, a3 = a[i], a[i + width], a[i + 2 * width], a[i + 3 * width]
        b0, b1, b2, b3 = b[i], b[i + width], b[i + 2 * width], b[i + 3 * width]
        out[i] = larger(a0, b0)
        out[i + width] = larger(a1, b1)
        out[i + 2 * width] = larger(a2, b2)
        out[i + 3 * width] = larger(a3, b3)
        i += stride
    while i < out.size:
        out[i] = larger(a[i], b[i])
        i += width


KERNELS = {
    1: maximum_one_kernel,
    2: maximum_two_kernel,
    4: maximum_four_kernel,
    8: maximum_eight_kernel,
}
GRID_STRIDE_KERNELS = {1: maximum_grid_stride_kernel, 4: maximum_four_grid_stride_kernel}


@cuda.jit
def empty_kernel(out):
    """Do nothing; only the last block leaves a receipt: its index, and the next."""
    last = cuda.gridDim.x - 1
    if cuda.blockIdx.x == last and cuda.threadIdx.x == 0:
        out[0] = last
        out[1] = last + 1


ITEMS = (1, 2, 4, 8)
STAMPED_SOURCE = r"""
// The larger of two, ITEMS a thread. The first thread of each block notes its multiprocessor and that
// multiprocessor's clock: at its start, when the block's last load has arrived, and after its stores.
__device__ __forceinline__ long long now() {
    long long cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles) :: "memory");
    return cycles;
}
extern "C" __global__ void maximum_stamped(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
    long long* __restrict__ stamps) {
    const long long begin = now();
    const long long width = blockDim.x;
    const long long i = blockIdx.x * width * ITEMS + threadIdx.x;
    float x[ITEMS], y[ITEMS], all = 0.0f;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) x[k] = a[i + k * width];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) y[k] = b[i + k * width];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) all += x[k] + y[k];
    // The barrier asks for a value that needs every load, so that nobody passes it before they arrive.
    const bool never = __syncthreads_or(all == -1.8e23f);
    const long long loaded = now();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        out[i + k * width] = x[k] > y[k] || isnan(x[k]) ? x[k] : y[k];
    if (threadIdx.x == 0 && !never) {
        unsigned int multiprocessor;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
        long long* mine = stamps + 4LL * blockIdx.x;
        mine[0] = multiprocessor;
        mine[1] = begin;
        mine[2] = loaded;
        mine[3] = now();
    }
}
"""


@functools.cache
def stamped_kernel(items_per_thread):
    """Return the kernel that takes the maximum and stamps its blocks.

    Parameters
    ----------
    items_per_thread : {1, 2, 4, 8}
        Elements of each thread.

    Returns
    -------
    RawKernel
        Takes ``(a, b, out, stamps)``; the arrays hold whole blocks of work.

    Raises
    ------
    ArgumentError
        Another number of items.

    Examples
    --------
    >>> stamped_kernel(4).name
    'maximum_stamped'
    """
    if items_per_thread not in ITEMS:
        raise ArgumentError(f"items_per_thread must be 1, 2, 4 or 8; got {items_per_thread!r}.")
    return raw_kernel(f"#define ITEMS {items_per_thread}\n{STAMPED_SOURCE}", "maximum_stamped")
