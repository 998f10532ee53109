"""Negates 1000 numbers in 1024 threads, without a guard."""

import cupy as cp
from numba import cuda


@cuda.jit(lineinfo=True)
def negate(x, out):
    """Each thread negates one number."""
    i = cuda.grid(1)
    out[i] = -x[i]


def main():
    """Launch it, and compare."""
    cp.cuda.set_allocator(
        None
    )  # each array gets memory of its own, so that a tool sees its end
    x = cp.arange(1000, dtype=cp.float32)
    out = cp.zeros_like(x)
    negate[4, 256](x, out)
    print("right:", bool((out == -x).all()))


if __name__ == "__main__":
    main()
