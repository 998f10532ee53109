"""The larger of two elements: the function, the ufuncs made of it, a loop and a kernel.

Kepler's equation is in `kernels_kepler`, the distance of points in `kernels_rows`.
"""

from functools import cache

import numba
from numba import cuda

SIGNATURES = ["float32(float32, float32)"]


def larger(a, b):
    """Return the larger of two numbers, and `b` where one of them is NaN.

    Numba's ``max`` follows another NaN rule on each processor; a comparison is the same everywhere.

    >>> larger(2.0, 3.0), larger(float("nan"), 3.0)
    (3.0, 3.0)
    """
    return a if a > b else b


@cache
def cpu_ufunc():
    """Make a ufunc for one CPU thread of `larger`; compiled when this is called.

    >>> import numpy as np
    >>> cpu_ufunc()(np.float32(2), np.array([1, 3], np.float32)).tolist()
    [2.0, 3.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES)(larger)


@cache
def cpu_threads_ufunc():
    """Make a ufunc for all CPU threads of `larger`; compiled when this is called.

    >>> import numpy as np
    >>> cpu_threads_ufunc()(np.float32(2), np.array([1, 3], np.float32)).tolist()
    [2.0, 3.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES, target="parallel")(larger)


@cache
def gpu_ufunc():
    """Make a ufunc for the GPU of `larger`; its kernel is compiled at the first call."""
    from numba import vectorize

    return vectorize(SIGNATURES, target="cuda")(larger)


larger_on_cpu = numba.njit(larger)


@numba.njit(parallel=True)
def maximum_cpu_loop(a, b, out):
    """Share out a plain loop among all CPU threads."""
    # Numba does not check indices: other shapes would be written past their end.
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(out.size):
        out[i] = larger_on_cpu(a[i], b[i])


larger_on_device = cuda.jit(larger, device=True)


@cuda.jit
def maximum_kernel(a, b, out):
    """Each thread takes one element: what @vectorize writes by itself."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = larger_on_device(a[i], b[i])
