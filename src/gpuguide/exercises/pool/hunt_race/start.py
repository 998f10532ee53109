from numba import cuda


@cuda.jit
def spread_kernel(x, out):
    """Let large values spread two places to both sides: one place, wait, one more."""
    i = cuda.grid(1)
    last = x.size - 1
    if i < x.size:
        out[i] = max(x[max(i - 1, 0)], x[i], x[min(i + 1, last)])
    cuda.syncthreads()  # now the first place is done
    if i < x.size:
        largest = max(out[max(i - 1, 0)], out[i], out[min(i + 1, last)])
    cuda.syncthreads()  # all have read
    if i < x.size:
        out[i] = largest
