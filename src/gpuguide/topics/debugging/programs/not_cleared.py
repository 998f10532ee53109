"""Counts the positive numbers of each block in shared memory, which nobody set to zero."""

import cupy as cp
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
    x = cp.random.random((4000, 256), dtype=cp.float32) - cp.float32(0.5)
    counts = cp.zeros(4000, cp.int32)
    counts_of_blocks[4000, 256](x.ravel(), counts)
    print("right:", bool((counts == (x > 0).sum(axis=1)).all()))


if __name__ == "__main__":
    main()
