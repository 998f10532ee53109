from numba import cuda


@cuda.jit
def recipes_kernel(x, out):
    """Apply one of two recipes to an element."""
    k = cuda.grid(1)
    n_even = (x.size + 1) // 2
    # The first threads take the even places, all others the odd ones: a warp agrees.
    if k < n_even:
        i = 2 * k
        v = x[i]
        for _ in range(8):
            v = (3 * v + 1) % 1000
        out[i] = v
    elif k < x.size:
        i = 2 * (k - n_even) + 1
        v = x[i]
        for _ in range(8):
            v = (v * v + 1) % 1000
        out[i] = v
