"""A constant of a number type, and a lambda, which Numba compiles."""

from numba import cuda, uint8

WHITE = uint8(255)


@cuda.jit
def negative_kernel(pixels, out):
    negative = lambda value: WHITE - value  # noqa: E731
    i = cuda.grid(1)
    out[i] = negative(pixels[i])
