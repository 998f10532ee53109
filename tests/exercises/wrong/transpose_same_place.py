"""Works out one place only, so that the writes are scattered as before.

Found: uncoalesced.
"""

from numba import cuda, float32


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        tile[ty, tx] = x[row, col]
    cuda.syncthreads()
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = tile[ty, tx]
