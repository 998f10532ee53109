"""Points in cells of a lattice, on all threads of the CPU."""

from numba import njit, prange


@njit(parallel=True)
def cpu_threads(x, y, cell, out):
    """Share the points out among all threads; nothing is written but the result."""
    per_area = 1 / (cell[0, 0] * cell[1, 1] - cell[0, 1] * cell[1, 0])
    for i in prange(x.size):
        out[i] = (x[i] * x[i] + y[i] * y[i]) * per_area
