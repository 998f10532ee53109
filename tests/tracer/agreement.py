"""Kernels whose results must be those of Numba's simulator; its process imports this file, too."""

import math

import numpy as np
from numba import cuda, float32, int32


@cuda.jit(device=True)
def squashed(v):
    return math.exp(-abs(v)) + math.sqrt(v * v)


@cuda.jit
def several_functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = squashed(x[i]) * float32(0.5) + max(x[i], float32(1)) // float32(2)


@cuda.jit
def block_sums(x, out):
    sums = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    stride = 32
    while stride:
        if t < stride:
            sums[t] += sums[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = sums[0]


@cuda.jit
def counted(x, out):
    n = cuda.syncthreads_count(x[cuda.grid(1)] > 0)
    cuda.atomic.add(out, cuda.threadIdx.x % 5, n)
    cuda.atomic.max(out, 5, cuda.grid(1))


@cuda.jit
def wrapped(x, out):
    row, col = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = int32(x[row] * 100000) % 1000 - (row << 3 ^ col)


@cuda.jit
def strides(x, out):
    window = cuda.local.array(3, float32)
    for i in range(cuda.grid(1), x.size - 2, cuda.gridsize(1)):
        for k in range(3):
            window[k] = x[i + k]
        out[i] = min(window[0], window[1], window[2])


def cases():
    """Kernel, blocks, threads and arguments of each launch."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=100).astype(np.float32)
    return [
        (several_functions, 4, 32, [x, np.zeros(100, np.float32)]),
        (block_sums, 2, 64, [x, np.zeros(2, np.float32)]),
        (counted, 2, 50, [x, np.zeros(6, np.int32)]),
        (wrapped, (2, 3), (8, 8), [x, np.zeros((10, 20), np.uint8)]),
        (strides, 1, 16, [x, np.zeros(100, np.float32)]),
    ]
