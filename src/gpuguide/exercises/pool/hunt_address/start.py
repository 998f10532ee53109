from numba import cuda


@cuda.jit
def mirror_kernel(pixels, rows, cols, mirrored):
    """Mirror an image whose rows lie one after the other, a pixel in each thread."""
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        mirrored[row * rows + cols - 1 - col] = pixels[row * rows + col]
