"""Chooses the recipe in each round, in one line.

Found: limit.
"""

from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for _ in range(8):
            v = (3 * v + 1) % 1000 if i % 2 == 0 else (v * v + 1) % 1000
        out[i] = v
