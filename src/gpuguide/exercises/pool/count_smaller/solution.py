from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    """Halve the range in which the count can lie."""
    i = cuda.grid(1)
    if i < limits.size:
        limit = limits[i]
        low, high = 0, values.size
        while low < high:
            middle = (low + high) // 2
            if values[middle] < limit:
                low = middle + 1  # all up to here are smaller
            else:
                high = middle  # nothing from here on is
        counts[i] = low
