"""Guards the left end only.

Found: out_of_range.
"""

from numba import cuda


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        left = x[i - 1] if i > 0 else x[i]
        out[i] = max(left, x[i], x[i + 1])
