"""Kernels that take one, three or eight arrays: what launches cost is measured with them."""

import functools

from numba import cuda

from gpuguide.machine.backends import cupy, raw_kernel
from gpuguide.measure.clocks import DELAY_SOURCE


@cuda.jit
def nothing_kernel():
    """No array, no work."""


@cuda.jit
def count_kernel(out):
    """One array: each element is its own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


@cuda.jit
def largest_of_two_kernel(a, b, out):
    """Three arrays: the larger of two."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])


@cuda.jit
def largest_of_seven_kernel(a, b, c, d, e, f, g, out):
    """Eight arrays: the largest of seven."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i], c[i], d[i], e[i], f[i], g[i])


KERNELS = {1: count_kernel, 3: largest_of_two_kernel, 8: largest_of_seven_kernel}


RAW_SOURCE = r"""
extern "C" __global__ void count(float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
extern "C" __global__ void largest_of_two(const float* a, const float* b, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaxf(a[i], b[i]);
}
extern "C" __global__ void largest_of_seven(
    const float* a, const float* b, const float* c, const float* d, const float* e,
    const float* f, const float* g, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float left = fmaxf(fmaxf(a[i], b[i]), fmaxf(c[i], d[i]));
        out[i] = fmaxf(left, fmaxf(fmaxf(e[i], f[i]), g[i]));
    }
}
"""


RAW_NOTHING = raw_kernel('extern "C" __global__ void nothing() {}', "nothing")


RAW_KERNELS = {
    1: raw_kernel(RAW_SOURCE, "count"),
    3: raw_kernel(RAW_SOURCE, "largest_of_two"),
    8: raw_kernel(RAW_SOURCE, "largest_of_seven"),
}


@functools.cache
def elementwise_kernel(n_arrays):
    """Make CuPy's ElementwiseKernel for the largest of `n_arrays` - 1 inputs."""
    names = "abcdefg"[: n_arrays - 1]
    inputs = ", ".join(f"float32 {name}" for name in names)
    largest = functools.reduce(lambda left, right: f"max({left}, {right})", names)
    return cupy().ElementwiseKernel(
        inputs, "float32 out", f"out = {largest}", f"largest_of_{len(names)}"
    )


@functools.cache
def delay_kernel():
    """Return the guide's delay kernel, which keeps a stream busy without using its memory.

    >>> delay_kernel().name
    'delay'
    """
    return raw_kernel(DELAY_SOURCE, "delay")
