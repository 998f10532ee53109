"""Subtracts neighbours in each part of 256; each arm of the if has a barrier of its own."""

import cupy as cp
import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def steps(x, out):
    """Each thread subtracts the number before its own."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.size:
        part[t] = x[i]
        cuda.syncthreads()
        out[i] = part[t] - part[t - 1] if t > 0 else part[t]
    else:
        cuda.syncthreads()


def main():
    """Launch it with more threads than numbers, and compare."""
    x = np.random.default_rng(0).random(1000, np.float32)
    expected = np.diff(x, prepend=np.float32(0))
    expected[::256] = x[::256]
    out = cp.zeros(1000, np.float32)
    steps[4, 256](cp.asarray(x), out)
    print("right:", (out.get() == expected).all())


if __name__ == "__main__":
    main()
