"""Writes along rows, and reads along columns instead.

Found: uncoalesced.
"""

from numba import cuda


@cuda.jit
def transpose_kernel(x, out):
    row = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    col = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[col, row]
