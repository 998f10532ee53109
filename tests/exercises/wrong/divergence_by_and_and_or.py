"""Calls one of two functions by 'and' and 'or'.

Found: limit.
"""

from numba import cuda


@cuda.jit(device=True)
def power(v, e):
    for _ in range(e):
        v = (3 * v + 1) % 1000
    return v


@cuda.jit(device=True)
def square(v, e):
    for _ in range(e):
        v = (v * v + 1) % 1000
    return v


@cuda.jit
def recipes_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        r = (i & 1 == 0 and power(x[i], 8) + 1) or (i & 1 and square(x[i], 8) + 1)
        out[i] = r - 1
