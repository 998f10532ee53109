"""Adds up everything in one thread, with a single atomic addition.

Found: limit.
"""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    if cuda.grid(1) == 0:
        product = float32(0)
        for i in range(a.size):
            product += a[i] * b[i]
        cuda.atomic.add(total, 0, product)
