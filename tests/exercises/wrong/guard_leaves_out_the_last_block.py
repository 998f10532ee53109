"""Only lets full blocks work.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if (cuda.blockIdx.x + 1) * cuda.blockDim.x <= out.size:
        out[i] = max(a[i], b[i])
