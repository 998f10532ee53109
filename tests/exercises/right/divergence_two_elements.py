"""Each thread takes two elements, one of each recipe, one after the other."""

from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    k = cuda.grid(1)
    if 2 * k < x.size:
        v = x[2 * k]
        for _ in range(8):
            v = (3 * v + 1) % 1000
        out[2 * k] = v
    if 2 * k + 1 < x.size:
        v = x[2 * k + 1]
        for _ in range(8):
            v = (v * v + 1) % 1000
        out[2 * k + 1] = v
