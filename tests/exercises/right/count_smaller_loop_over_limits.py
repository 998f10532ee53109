"""A loop over the limits around the search: its one turn comes on top of eight halvings."""

from numba import cuda


@cuda.jit
def count_smaller_kernel(values, limits, counts):
    for i in range(cuda.grid(1), limits.size, cuda.gridsize(1)):
        low, high = 0, values.size
        while low < high:
            middle = (low + high) // 2
            if values[middle] < limits[i]:
                low = middle + 1
            else:
                high = middle
        counts[i] = low
