"""A squared difference in one kernel, four elements per thread."""

from numba import cuda


@cuda.jit
def squared_four(x, y, out):
    """Each thread takes four elements: eight loads before the first store."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    if i + 3 * width < out.size:
        d0, d1 = x[i] - y[i], x[i + width] - y[i + width]
        d2, d3 = x[i + 2 * width] - y[i + 2 * width], x[i + 3 * width] - y[i + 3 * width]
        out[i] = d0 * d0
        out[i + width] = d1 * d1
        out[i + 2 * width] = d2 * d2
        out[i + 3 * width] = d3 * d3
    else:
        while i < out.size:  # the last block
            d0 = x[i] - y[i]
            out[i] = d0 * d0
            i += width
