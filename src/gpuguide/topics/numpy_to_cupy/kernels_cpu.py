"""Standardised columns, on all threads of the CPU."""

import numpy as np
from numba import njit, prange

PARTS = 64  # of the rows, each summed by one thread


@njit(parallel=True)
def cpu_threads(table, out):
    """Share the rows out among all threads, and write nothing but sums and the result."""
    rows, columns = table.shape
    sums, squares = np.zeros((PARTS, columns)), np.zeros((PARTS, columns))
    for part in prange(PARTS):
        for i in range(part * rows // PARTS, (part + 1) * rows // PARTS):
            for j in range(columns):
                sums[part, j] += table[i, j]
    mean = sums.sum(axis=0) / rows
    for part in prange(PARTS):
        for i in range(part * rows // PARTS, (part + 1) * rows // PARTS):
            for j in range(columns):
                squares[part, j] += (table[i, j] - mean[j]) ** 2
    deviation = np.sqrt(squares.sum(axis=0) / rows)
    for i in prange(rows):
        for j in range(columns):
            out[i, j] = (table[i, j] - mean[j]) / deviation[j]
