from numba import cuda


@cuda.jit
def transpose_kernel(x, out):
    """Move one element from its row to its column."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = x[row, col]
