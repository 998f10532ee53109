from numba import cuda, float32


@cuda.jit
def convolve_kernel(x, weights, out):
    """Smooth one element of a signal out of the tile of its block."""
    tile = cuda.shared.array(256 + 16, float32)
    taps = cuda.shared.array(17, float32)
    t, width = cuda.threadIdx.x, cuda.blockDim.x
    radius = weights.size // 2
    start = cuda.blockIdx.x * width - radius
    # There are more elements to fetch than threads, so some fetch two.
    for k in range(t, width + 2 * radius, width):
        j = start + k
        tile[k] = x[j] if 0 <= j < x.size else float32(0)
    for k in range(t, weights.size, width):
        taps[k] = weights[k]
    cuda.syncthreads()  # the tile is complete
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(weights.size):
            total += taps[k] * tile[t + 2 * radius - k]
        out[i] = total
