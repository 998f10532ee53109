"""Begins with a number that is not always low enough.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        best = -1000.0
        for k in range(max(0, i - 1), min(x.size, i + 2)):
            best = max(best, x[k])
        out[i] = best
