"""Chooses the recipe anew in each round.

Found: limit.
"""

from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for _ in range(8):
            if i % 2 == 0:
                v = (3 * v + 1) % 1000
            if i % 2 == 1:
                v = (v * v + 1) % 1000
        out[i] = v
