"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, types


@cuda.jit
def move_on_kernel(x):
    s = cuda.shared.array(1024, types.float16)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    m = min(cuda.blockDim.x, x.size - (i - t))
    if t < m:
        s[t] = x[i]
    cuda.syncthreads()
    if t < m:
        x[i] = s[(t + m - 1) % m]
