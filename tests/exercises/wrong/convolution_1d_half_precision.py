"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, float32, types


@cuda.jit
def convolve_kernel(x, weights, out):
    tile = cuda.shared.array(256 + 16, types.float16)
    w = cuda.shared.array(17, types.float16)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    m = weights.size
    r = m // 2
    first = cuda.blockIdx.x * cuda.blockDim.x - r
    for k in range(t, cuda.blockDim.x + 2 * r, cuda.blockDim.x):
        j = first + k
        tile[k] = x[j] if 0 <= j < x.size else float32(0)
    if t < m:
        w[t] = weights[t]
    cuda.syncthreads()
    if i < x.size:
        s = float32(0)
        for k in range(m):
            s += float32(w[k]) * float32(tile[t + 2 * r - k])
        out[i] = s
