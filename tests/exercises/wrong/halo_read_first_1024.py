"""Works on 1024 elements at most.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < min(x.size, 1024):
        left = x[max(i - 1, 0)]
        right = x[min(i + 1, x.size - 1)]
        out[i] = max(left, x[i], right)
