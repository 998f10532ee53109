"""Takes a 0 in shared memory for a place without an element.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def move_on_kernel(x):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = 0
    if i < x.size:
        last = t == cuda.blockDim.x - 1 or i == x.size - 1
        v = x[i]
    cuda.syncthreads()
    if i < x.size:
        s[0 if last else t + 1] = v
    cuda.syncthreads()
    if s[t]:
        x[i] = s[t]
