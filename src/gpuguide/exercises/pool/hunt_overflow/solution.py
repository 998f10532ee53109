from numba import cuda


@cuda.jit
def brighten_kernel(image, more, out):
    """Make each pixel brighter by so much."""
    i = cuda.grid(1)
    if i < image.size:
        # The sum has 64 bits, and room for all of them; only what is stored must fit into 8.
        out[i] = min(max(image[i] + more, 0), 255)
