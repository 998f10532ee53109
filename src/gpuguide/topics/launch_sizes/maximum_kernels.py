"""Kernels for the larger of two numbers: one to eight elements a thread, in one pass or in a loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpuguide.machine.backends import cuda, jit


@jit(device=True)
def larger(x: Any, y: Any) -> Any:
    """Return the larger number; not a number (NaN) if one of the two is none."""
    return x if x > y or math.isnan(x) else y


@jit
def maximum_one_kernel(a: Any, b: Any, out: Any) -> None:
    """Each thread takes the element that has its own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = larger(a[i], b[i])


@jit
def maximum_two_kernel(a: Any, b: Any, out: Any) -> None:
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


@jit
def maximum_four_kernel(a: Any, b: Any, out: Any) -> None:
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


@jit
def maximum_eight_kernel(a: Any, b: Any, out: Any) -> None:
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


@jit
def maximum_grid_stride_kernel(a: Any, b: Any, out: Any) -> None:
    """Each thread takes an element, then the one a whole grid further on."""
    i = cuda.grid(1)
    stride = cuda.gridsize(1)
    while i < out.size:
        out[i] = larger(a[i], b[i])
        i += stride


@jit
def maximum_four_grid_stride_kernel(a: Any, b: Any, out: Any) -> None:
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
