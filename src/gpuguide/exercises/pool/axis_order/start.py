from numba import cuda


@cuda.jit
def subtract_offset_kernel(image, offset, out):
    """Subtract what one pixel's column reads too high."""
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = image[row, col] - offset[col]
