"""Prints from inside a kernel where a result is no number."""

import cupy as cp
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
    x = cp.arange(1000, dtype=cp.float32) % 500
    out = cp.zeros_like(x)
    inverse[4, 256](x, out)
    cuda.synchronize()


if __name__ == "__main__":
    main()
