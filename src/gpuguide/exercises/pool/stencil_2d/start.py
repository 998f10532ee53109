from numba import cuda, float32


@cuda.jit
def heat_kernel(now, then):
    """Compute one cell of the plate after a step."""
    col, row = cuda.grid(2)
    rows, cols = now.shape
    if row < rows and col < cols:
        if 0 < row < rows - 1 and 0 < col < cols - 1:
            up_and_down = now[row - 1, col] + now[row + 1, col]
            sides = now[row, col - 1] + now[row, col + 1]  # other threads read these, too
            then[row, col] = float32(0.25) * (up_and_down + sides)
        else:
            then[row, col] = now[row, col]
