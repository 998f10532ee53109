"""Kernels on matrices and boxes, with the x of a thread along the last axis or along the first."""

from numba import cuda


@cuda.jit
def fast_axis(x):
    """Threads that are neighbours in x take neighbours in a row, and in memory."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] += 1


@cuda.jit
def slow_axis(x):
    """Threads that are neighbours in x take elements that lie a whole row apart."""
    row, col = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] += 1


@cuda.jit
def blocks_along_rows(x):
    """Threads go down the columns, and blocks that are neighbours in x along the rows."""
    row = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    col = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] += 1


@cuda.jit
def maximum_fast_kernel(a, b, out):
    """Each thread finds its place on the last axis by x, on the first by z."""
    k, j, i = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        first, second = a[i, j, k], b[i, j, k]
        out[i, j, k] = first if first > second else second


@cuda.jit
def maximum_slow_kernel(a, b, out):
    """Each thread finds its place on the first axis by x, on the last by z."""
    i, j, k = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        first, second = a[i, j, k], b[i, j, k]
        out[i, j, k] = first if first > second else second
