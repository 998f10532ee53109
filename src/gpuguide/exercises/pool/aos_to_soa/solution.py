from numba import cuda, float32


@cuda.jit
def split_kernel(points, fields):
    """Read the points of a block as they lie in memory, and write them field by field."""
    tile = cuda.shared.array(512, float32)
    t, width = cuda.threadIdx.x, cuda.blockDim.x
    start = cuda.blockIdx.x * width
    for k in range(t, 4 * width, width):  # neighbouring threads, neighbouring numbers
        i = start + k // 4
        if i < points.shape[0]:
            tile[k] = points[i, k % 4]
    cuda.syncthreads()  # the numbers of a point come from other threads
    i = start + t
    if i < points.shape[0]:
        for field in range(4):
            fields[field, i] = tile[4 * t + field]
