"""Adds to an array that nobody has set to zero."""

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def add(x, total):
    """Each thread adds one number."""
    i = cuda.grid(1)
    if i < x.size:
        total[i] += x[i]


def main():
    """Launch it, and compare."""
    cp.cuda.set_allocator(None)  # else a tool sees the pool, not the array
    x = np.ones(1000, np.float32)
    total = cp.empty(1000, np.float32)
    add[4, 256](cp.asarray(x), total)
    print("right:", (total.get() == x).all())


if __name__ == "__main__":
    main()
