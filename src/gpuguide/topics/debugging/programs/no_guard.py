"""Negates 1000 numbers in 1024 threads, without a guard."""

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def negate(x, out):
    """Each thread negates one number."""
    i = cuda.grid(1)
    out[i] = -x[i]


def main():
    """Launch it, and compare."""
    cp.cuda.set_allocator(None)  # memory of its own for each array, so that a tool sees its end
    x = np.arange(1000, dtype=np.float32)
    out = cp.zeros(1000, np.float32)
    negate[4, 256](cp.asarray(x), out)
    print("right:", (out.get() == -x).all())


if __name__ == "__main__":
    main()
