from numba import cuda


@cuda.jit
def negative_kernel(pixels, out):
    """Turn one pixel into its negative."""
    i = cuda.grid(1)  # the loop variable of a loop that is no longer written down
    out[i] = 255 - pixels[i]
