"""Launches both kernels once more when all is compiled: what Nsight Compute is to look at."""

import cupy as cp
from cupyx.profiler import profile
from numba import cuda

from gpuguide.topics.profiling import kernels

# With the lines of their source.
turn_by_threads, turn_by_tiles = (
    cuda.jit(lineinfo=True)(kernel.py_func)
    for kernel in (kernels.turn_by_threads, kernels.turn_by_tiles)
)


def main():
    """Turn a matrix twice; both kernels are checked where they are timed."""
    x = cp.zeros((8192, 8192), cp.float32)
    out = cp.zeros_like(x)

    def both():
        turn_by_threads[(256, 1024), (32, 8)](x, out)
        turn_by_tiles[(256, 256), (32, 8)](x, out)

    both()  # compiles
    with profile():  # what lies between its marks is profiled
        both()


if __name__ == "__main__":
    main()
