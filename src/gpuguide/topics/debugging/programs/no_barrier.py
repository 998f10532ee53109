"""Mirrors each part of 256 numbers in shared memory, without a barrier."""

import cupy as cp
import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def mirror(x, out):
    """Each block mirrors its part."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i]
    out[i] = part[255 - t]


def main():
    """Launch it, and compare."""
    x = np.random.default_rng(0).random((64, 256), np.float32)
    out = cp.zeros(x.size, np.float32)
    mirror[64, 256](cp.asarray(x.ravel()), out)
    print("right:", (out.get() == x[:, ::-1].ravel()).all())


if __name__ == "__main__":
    main()
