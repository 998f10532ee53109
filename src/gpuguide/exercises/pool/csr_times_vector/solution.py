from numba import cuda, float32


@cuda.jit
def csr_times_vector_kernel(values, columns, starts, x, y):
    """Multiply one row and the vector in the threads of one warp."""
    row = cuda.blockIdx.x
    if row < y.size:
        total = float32(0)
        for k in range(starts[row] + cuda.threadIdx.x, starts[row + 1], 32):
            total += values[k] * x[columns[k]]  # neighbours read neighbours of both arrays
        for distance in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        if cuda.threadIdx.x == 0:
            y[row] = total
