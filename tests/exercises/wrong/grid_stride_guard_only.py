"""Gives each thread one element, so that a small grid leaves some out.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += factor * x[i]
