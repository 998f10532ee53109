from numba import cuda


@cuda.jit
def bright_kernel(image, level, mask):
    """Mark one pixel that is at least as bright as the level."""
    col, row = cuda.grid(2)  # x first, and x counts the columns
    if row < image.shape[0] and col < image.shape[1]:
        mask[row, col] = 1 if image[row, col] >= level else 0
