"""Sorts the work by where an element lies, not by its recipe.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    k = cuda.grid(1)
    if k < x.size:
        v = x[k]
        if k < (x.size + 1) // 2:
            for _ in range(8):
                v = (3 * v + 1) % 1000
        else:
            for _ in range(8):
                v = (v * v + 1) % 1000
        out[k] = v
