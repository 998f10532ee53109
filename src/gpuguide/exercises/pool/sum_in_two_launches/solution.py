from numba import cuda, float32


@cuda.jit
def sums_kernel(x, sums):
    """Store one sum per block; launched on these sums with one block, it stores the sum of all."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    part[t] = total
    half = cuda.blockDim.x // 2
    while half > 0:
        cuda.syncthreads()  # what the last round stored is there for all
        if t < half:
            part[t] += part[t + half]
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
