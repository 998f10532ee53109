from numba import cuda


@cuda.jit
def bright_kernel(image, level, mask):
    """Mark the pixels of one row that are at least as bright as the level."""
    x, row = cuda.grid(2)
    if x == 0 and row < image.shape[0]:  # one thread per row
        for col in range(image.shape[1]):
            mask[row, col] = 1 if image[row, col] >= level else 0
