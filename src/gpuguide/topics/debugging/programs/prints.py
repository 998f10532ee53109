"""Prints from inside a kernel where a result is no number."""

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def inverse(x, out):
    """Each thread inverts one number."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 1 / x[i]
        if not out[i] < 1e30:
            print("thread", i, "has x =", x[i], "and gets", out[i])


def main():
    """Launch it, and wait: what a kernel prints comes when the host waits for it."""
    x = np.arange(1000, dtype=np.float32) % 500
    inverse[4, 256](cp.asarray(x), cp.zeros(1000, np.float32))
    cuda.synchronize()


if __name__ == "__main__":
    main()
