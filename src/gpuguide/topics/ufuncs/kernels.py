"""The larger of two elements: the function, the ufuncs made of it, a loop and a kernel.

Kepler's equation is in `kernels_kepler`, the distance of points in `kernels_rows`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba

from gpuguide.machine.backends import cuda, jit

SIGNATURES = ["float32(float32, float32)"]


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two numbers, and `b` where one of them is NaN.

    Numba's ``max`` follows another NaN rule on each processor; a comparison is the same everywhere.

    Parameters
    ----------
    a, b : float
        Two numbers.

    Returns
    -------
    float
        One of them.

    Examples
    --------
    >>> larger(2.0, 3.0), larger(float("nan"), 3.0)
    (3.0, 3.0)
    """
    return a if a > b else b


@cache
def cpu_ufunc() -> Any:
    """Make a ufunc for one CPU thread of `larger`; compiled when this is called.

    Returns
    -------
    numba.np.ufunc.dufunc.DUFunc
        Of two float32.

    Examples
    --------
    >>> import numpy as np
    >>> cpu_ufunc()(np.float32(2), np.array([1, 3], np.float32)).tolist()
    [2.0, 3.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES)(larger)


@cache
def cpu_threads_ufunc() -> Any:
    """Make a ufunc for all CPU threads of `larger`; compiled when this is called.

    Returns
    -------
    numpy.ufunc
        Of two float32.

    Examples
    --------
    >>> import numpy as np
    >>> cpu_threads_ufunc()(np.float32(2), np.array([1, 3], np.float32)).tolist()
    [2.0, 3.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES, target="parallel")(larger)


@cache
def gpu_ufunc() -> Any:
    """Make a ufunc for the GPU of `larger`; its kernel is compiled at the first call.

    Returns
    -------
    numba.cuda.vectorizers.CUDAUFuncDispatcher
        Of two float32; takes ``out=`` and ``stream=``.

    Raises
    ------
    numba.cuda.cudadrv.error.CudaSupportError
        There is no GPU. Numba's simulator has no ufuncs either: there an AttributeError is raised.
    """
    from numba import vectorize

    return vectorize(SIGNATURES, target="cuda")(larger)


larger_on_cpu = numba.njit(larger)


@numba.njit(parallel=True)
def maximum_cpu_loop(a: Any, b: Any, out: Any) -> None:
    """Share out a plain loop among all CPU threads.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (n,)
        Inputs and output.

    Raises
    ------
    ValueError
        The shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[1, 5], [2, 3]], np.float32)
    >>> out = np.empty_like(a)
    >>> maximum_cpu_loop(a, b, out)
    >>> out.tolist()
    [2.0, 5.0]
    """
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(out.size):
        out[i] = larger_on_cpu(a[i], b[i])


larger_on_device = jit(larger, device=True)


@jit
def maximum_kernel(a: Any, b: Any, out: Any) -> None:
    """Each thread takes one element: what @vectorize writes by itself."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = larger_on_device(a[i], b[i])
