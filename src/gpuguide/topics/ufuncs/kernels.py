"""Kernels that do what the page's ufuncs do, each as the page shows it."""

import numpy as np
from numba import cuda


@cuda.jit
def own_kernel(a, b, out):
    """Each thread takes one element: what @vectorize writes by itself."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] if a[i] > b[i] else b[i]


@cuda.jit
def distance_kernel(a, b, out):
    """Each thread walks along its own row."""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for k in range(a.shape[1]):
            difference = a[i, k] - b[i, k]
            total += difference * difference
        out[i] = total
