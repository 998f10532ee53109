from numba import cuda


@cuda.jit
def three_layers_kernel(x, out):
    """Add up each number of a column and its neighbours above and below."""
    i = cuda.grid(1)
    n_layers = x.shape[0]
    if i < x.shape[1]:
        for z in range(n_layers):
            total = x[z, i]
            if z > 0:
                total += x[z - 1, i]
            if z < n_layers - 1:
                total += x[z + 1, i]
            out[z, i] = total
