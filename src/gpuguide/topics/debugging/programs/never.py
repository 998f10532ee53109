"""Moves 64 numbers and negates some of them; each arm of the if has a barrier of its own."""

import cupy as cp
import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def move(x, out):
    """One block: the first 16 threads do something else than the others."""
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 16:
        part[t] = x[t]
        cuda.syncthreads()
        out[t] = part[63 - t]
    else:
        part[t] = -x[t]
        cuda.syncthreads()
        out[t] = part[t - 16]


def main():
    """Launch it, then fetch the result."""
    x = np.ones(64, np.float32)
    out = cp.zeros(64, np.float32)
    move[1, 64](cp.asarray(x), out)
    print("launched")
    print("right:", out.get().sum() == -32)


if __name__ == "__main__":
    main()
