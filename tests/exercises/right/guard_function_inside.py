"""A function within the kernel, which Numba compiles."""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    def larger(i):
        return a[i] if a[i] > b[i] else b[i]

    i = cuda.grid(1)
    if i < out.size:
        out[i] = larger(i)
