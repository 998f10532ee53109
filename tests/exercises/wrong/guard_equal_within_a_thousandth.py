"""Takes values that lie near to each other for equal ones.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        if a[i] - b[i] > float32(0.001):
            out[i] = a[i]
        else:
            out[i] = b[i]
