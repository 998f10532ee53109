"""Starts at a number that is not low enough.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        m = float32(-1e9)
        for k in range(max(0, i - 1), min(x.size, i + 2)):
            m = max(m, x[k])
        out[i] = m
