"""Chooses one of two functions, each with a loop: a warp walks through both.

Found: limit.
"""

from numba import cuda


@cuda.jit(device=True)
def even_recipe(v):
    for _ in range(8):
        v = (3 * v + 1) % 1000
    return v


@cuda.jit(device=True)
def odd_recipe(v):
    for _ in range(8):
        v = (v * v + 1) % 1000
    return v


@cuda.jit
def recipes_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = even_recipe(x[i]) if i % 2 == 0 else odd_recipe(x[i])
