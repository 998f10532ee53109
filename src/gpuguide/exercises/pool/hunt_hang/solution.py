from numba import cuda, float32


@cuda.jit
def steps_kernel(x, out):
    """Subtract from each element the one before it in its part."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.size:
        part[t] = x[i]
    cuda.syncthreads()  # one barrier, to which all threads of the block come
    if i < x.size:
        out[i] = part[t] - part[t - 1] if t > 0 else part[t]
