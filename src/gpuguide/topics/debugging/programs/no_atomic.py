"""Counts positive numbers; all threads add to the same number at the same time."""

import cupy as cp
from numba import cuda


@cuda.jit(lineinfo=True)
def count_positive(x, count):
    """Each thread looks at one number."""
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        count[0] += 1


def main():
    """Launch it, and compare."""
    x = cp.random.random(10_000, dtype=cp.float32) - cp.float32(0.5)
    count = cp.zeros(1, cp.int64)
    count_positive[40, 256](x, count)
    print("right:", int(count[0]) == int((x > 0).sum()))


if __name__ == "__main__":
    main()
