from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    """Count the values of one bin."""
    for b in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        for i in range(values.size):  # every bin reads all values
            if values[i] == b:
                counts[b] += 1
