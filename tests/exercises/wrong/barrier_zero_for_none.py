"""Takes 0 for a thread without an element.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def move_on_kernel(x):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    n = min(cuda.blockDim.x, x.size - start)
    v = float32(0)
    if i < x.size:
        v = x[i]
    cuda.syncthreads()
    if v != 0:
        x[start + (cuda.threadIdx.x + 1) % n] = v
