"""Hides the branch in the number of turns that a loop makes.

Found: limit.
"""

from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for _ in range(8 * (1 - i % 2)):
            v = (3 * v + 1) % 1000
        for _ in range(8 * (i % 2)):
            v = (v * v + 1) % 1000
        out[i] = v
