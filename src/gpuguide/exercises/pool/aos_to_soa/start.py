from numba import cuda


@cuda.jit
def split_kernel(points, fields):
    """Write the four numbers of a point into four arrays."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        for field in range(4):
            fields[field, i] = points[i, field]  # the neighbour reads 16 bytes further on
