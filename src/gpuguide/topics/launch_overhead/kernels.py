"""Kernels that take one, three or eight arrays: what launches cost is measured with them."""

from __future__ import annotations

import functools
from typing import Any

from gpuguide.machine.backends import RawKernel, cuda, cupy, jit, raw_kernel
from gpuguide.measure.clocks import DELAY_SOURCE


@jit
def nothing_kernel() -> None:
    """No array, no work."""


@jit
def count_kernel(out: Any) -> None:
    """One array: each element is its own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


@jit
def largest_of_two_kernel(a: Any, b: Any, out: Any) -> None:
    """Three arrays: the larger of two."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])


@jit
def largest_of_seven_kernel(
    a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, out: Any
) -> None:
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
def elementwise_kernel(n_arrays: int) -> Any:
    """Make CuPy's ElementwiseKernel for the largest of `n_arrays` - 1 inputs.

    Parameters
    ----------
    n_arrays : int
        At least 2.

    Returns
    -------
    cupy.ElementwiseKernel
        Takes the inputs and the output.
    """
    names = "abcdefg"[: n_arrays - 1]
    inputs = ", ".join(f"float32 {name}" for name in names)
    largest = functools.reduce(lambda left, right: f"max({left}, {right})", names)
    return cupy().ElementwiseKernel(
        inputs, "float32 out", f"out = {largest}", f"largest_of_{len(names)}"
    )


@functools.cache
def delay_kernel() -> RawKernel:
    """Return the guide's delay kernel, which keeps a stream busy without using its memory.

    Returns
    -------
    RawKernel
        Takes the nanoseconds as uint64.

    Examples
    --------
    >>> delay_kernel().name
    'delay'
    """
    return raw_kernel(DELAY_SOURCE, "delay")
