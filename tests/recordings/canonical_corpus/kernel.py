"""A topic as the package has them: a Numba kernel, a raw kernel, a launcher, a study."""

# ruff: noqa
# fmt: off
from __future__ import annotations

import warnings

from gpuguide.backends import cuda, jit, raw_kernel

SOURCE = r"""
extern "C" __global__ void add(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // one element a thread
    if (i < n) out[i] = x[i] + 1.0f;
}
"""

@jit
def add_kernel(x, out):
    """Each thread adds one."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1

def add(x, out, threads_per_block: int = 256):
    """Launch it."""
    if x.shape != out.shape:
        raise ArgumentError(f"out must have the shape {x.shape}; got {out.shape}")
    blocks_per_grid = -(-x.size // threads_per_block)
    if not blocks_per_grid:
        warnings.warn("nothing to do", stacklevel=2)
        return out
    add_kernel[blocks_per_grid, threads_per_block](x, out)
    return out

add_raw = raw_kernel(SOURCE, "add", options=("-std=c++17",))
