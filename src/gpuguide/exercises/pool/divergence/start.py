from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    """Apply one of two recipes to an element."""
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if i % 2 == 0:  # neighbouring threads never agree
            for _ in range(8):
                v = (3 * v + 1) % 1000
        else:
            for _ in range(8):
                v = (v * v + 1) % 1000
        out[i] = v
