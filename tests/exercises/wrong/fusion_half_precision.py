"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, float32, types


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    i = cuda.grid(1)
    if i < out.size:
        d = float32(types.float16(x[i])) - float32(types.float16(y[i]))
        out[i] = d * d * float32(types.float16(weight[i]))
