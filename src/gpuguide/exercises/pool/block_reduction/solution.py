from numba import cuda, float32


@cuda.jit
def block_sums_kernel(x, sums):
    """Add up the part of one block in a tree."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)  # no element adds nothing
    half = cuda.blockDim.x // 2
    while half > 0:
        cuda.syncthreads()  # what the last round stored is there for all
        if t < half:
            part[t] += part[t + half]
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
