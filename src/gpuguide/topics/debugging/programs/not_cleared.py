"""Counts the positive numbers of each block in shared memory, which nobody set to zero."""

import cupy as cp
import numpy as np
from numba import cuda, int32


@cuda.jit(lineinfo=True)
def counts_of_blocks(x, counts):
    """Each block counts in its part."""
    count = cuda.shared.array(1, int32)
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        counts[cuda.blockIdx.x] = count[0]


def main():
    """Launch it, and compare."""
    x = np.random.default_rng(0).random((4000, 256), np.float32) - np.float32(0.5)
    counts = cp.zeros(4000, np.int32)
    counts_of_blocks[4000, 256](cp.asarray(x.ravel()), counts)
    print("right:", (counts.get() == (x > 0).sum(axis=1)).all())


if __name__ == "__main__":
    main()
