from numba import cuda


@cuda.jit
def dot_kernel(a, b, total):
    """Add this thread's products to the total, one by one."""
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.add(total, 0, a[i] * b[i])  # an atomic addition for each element
