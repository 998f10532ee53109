from numba import cuda, float32


@cuda.jit
def csr_times_vector_kernel(values, columns, starts, x, y):
    """Multiply one row and the vector in one thread of a warp."""
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0 and row < y.size:
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total
