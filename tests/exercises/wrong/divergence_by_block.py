"""Lets the blocks take turns, and counts an odd place too few.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    k = cuda.grid(1)
    n_even = x.size // 2
    if k < n_even:
        v = x[2 * k]
        for _ in range(8):
            v = (3 * v + 1) % 1000
        out[2 * k] = v
    elif k < 2 * n_even:
        v = x[2 * (k - n_even) + 1]
        for _ in range(8):
            v = (v * v + 1) % 1000
        out[2 * (k - n_even) + 1] = v
