"""Makes a list, which no kernel can.

Found: compile.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max([a[i], b[i]])
