from numba import cuda


@cuda.jit
def mirror_kernel(pixels, rows, cols, mirrored):
    """Mirror an image whose rows lie one after the other, a pixel in each thread."""
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        start = row * cols  # each of the rows above has as many pixels as there are columns
        mirrored[start + cols - 1 - col] = pixels[start + col]
