"""Goes on from block to block by atomic additions.

Found: wrong, race, uninitialised.
"""

from numba import cuda


@cuda.jit
def running_totals_kernel(x, totals):
    i = cuda.grid(1)
    if i < x.size:
        for k in range(i, x.size):
            cuda.atomic.add(totals, k, x[i])
