from numba import cuda, float32


@cuda.jit
def matmul_kernel(a, b, c):
    """Work out one element of a product from a row and a column."""
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total
