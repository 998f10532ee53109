from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    """Count one value."""
    i = cuda.grid(1)
    if i < values.size:
        value = values[i]
        if 0 <= value < counts.size:  # others have no bin
            # Other threads may add to the same bin now, so read, add and write in one step.
            cuda.atomic.add(counts, value, 1)
