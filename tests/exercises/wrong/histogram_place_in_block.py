"""Takes the place in the block for the place in the grid.

Found: unread.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.threadIdx.x
    if i < values.size:
        value = values[i]
        if 0 <= value < counts.size:
            cuda.atomic.add(counts, value, 1)
