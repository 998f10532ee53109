"""Counts positive numbers; all threads add to the same number at the same time."""

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def count_positive(x, count):
    """Each thread looks at one number."""
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        count[0] += 1


def main():
    """Launch it, and compare."""
    x = np.random.default_rng(0).random(10_000, np.float32) - np.float32(0.5)
    count = cp.zeros(1, np.int64)
    count_positive[40, 256](cp.asarray(x), count)
    print("right:", count.get()[0] == (x > 0).sum())


if __name__ == "__main__":
    main()
