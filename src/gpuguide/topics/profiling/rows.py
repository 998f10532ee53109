"""Launches both kernels once more when all is compiled, between two marks for a profiler."""

import cupy as cp
from cupyx.profiler import profile
from numba import cuda

from gpuguide.topics.profiling import kernels

# With the lines of their source, which a profiler then shows.
thread_per_row, warp_per_row = (
    cuda.jit(lineinfo=True)(kernel.py_func)
    for kernel in (kernels.thread_per_row, kernels.warp_per_row)
)


def main():
    """Add up the rows of a matrix twice, and compare."""
    a = cp.random.random((8192, 8192), dtype=cp.float32)
    slow, fast = (cp.empty(len(a), cp.float32) for _ in range(2))

    def both():
        thread_per_row[32, 256](a, slow)
        warp_per_row[1024, 256](a, fast)

    both()  # compiles
    with profile():
        both()
    print("right:", bool(cp.allclose(slow, a.sum(axis=1)) and cp.allclose(fast, slow)))


if __name__ == "__main__":
    main()
