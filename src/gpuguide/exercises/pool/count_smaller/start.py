from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    """Count the values that are smaller than a limit."""
    i = cuda.grid(1)
    if i < limits.size:
        count = 0
        for k in range(values.size):  # every value is looked at
            if values[k] < limits[i]:
                count += 1
        counts[i] = count
