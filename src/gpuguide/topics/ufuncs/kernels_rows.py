"""The squared distance of points: the function, the ufuncs of rows made of it, a loop and a kernel."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from gpuguide.machine.backends import cuda, jit

SIGNATURES = ["void(float32[:], float32[:], float32[:])"]
LAYOUT = "(d),(d)->()"
ZERO = np.float32(0)


def squared_distance(a: Any, b: Any, out: Any) -> None:
    """Fill one number from two rows: what @guvectorize makes a ufunc of.

    Parameters
    ----------
    a, b : array of float32, shape (d,)
        Two points.
    out : array of float32, shape (1,)
        Filled with the squared distance.

    Examples
    --------
    >>> out = np.empty(1, np.float32)
    >>> squared_distance(np.array([0, 3], np.float32), np.array([4, 0], np.float32), out)
    >>> out.tolist()
    [25.0]
    """
    total = ZERO
    for k in range(a.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    out[0] = total


@cache
def cpu_gufunc() -> Any:
    """Make a ufunc of rows for one CPU thread; compiled when this is called.

    Returns
    -------
    numba.np.ufunc.gufunc.GUFunc
        Of two float32 arrays whose last axis holds the coordinates.

    Examples
    --------
    >>> points = np.array([[0, 3], [4, 0]], np.float32)
    >>> cpu_gufunc()(points, points[::-1]).tolist()
    [25.0, 25.0]
    """
    from numba import guvectorize

    return guvectorize(SIGNATURES, LAYOUT)(squared_distance)


@cache
def gpu_gufunc() -> Any:
    """Make a ufunc of rows for the GPU; compiled when this is called.

    Returns
    -------
    numba.cuda.vectorizers.CUDAGeneralizedUFunc
        Of two float32 arrays whose last axis holds the coordinates; takes ``out=`` and ``stream=``.

    Raises
    ------
    numba.cuda.cudadrv.error.CudaSupportError
        There is no GPU. Numba's simulator cannot call one: there an AttributeError is raised.
    """
    from numba import guvectorize

    return guvectorize(SIGNATURES, LAYOUT, target="cuda")(squared_distance)


@numba.njit(parallel=True)
def distance_cpu_loop(a: Any, b: Any, out: Any) -> None:
    """Share out a plain loop over the rows among all CPU threads.

    Parameters
    ----------
    a, b : ndarray of float32, shape (n, d)
        Points, one a row.
    out : ndarray of float32, shape (n,)
        Filled with the squared distances.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> points = np.array([[0, 3], [4, 0]], np.float32)
    >>> out = np.empty(2, np.float32)
    >>> distance_cpu_loop(points, points[::-1], out)
    >>> out.tolist()
    [25.0, 25.0]
    """
    if a.shape != b.shape or a.shape[0] != out.size:
        raise ValueError("expected arrays of shapes (n, d), (n, d), (n,)")
    for i in numba.prange(out.size):
        total = ZERO
        for k in range(a.shape[1]):
            difference = a[i, k] - b[i, k]
            total += difference * difference
        out[i] = total


@jit
def distance_kernel(a: Any, b: Any, out: Any) -> None:
    """Each thread walks along its own row."""
    i = cuda.grid(1)
    if i < out.size:
        total = ZERO
        for k in range(a.shape[1]):
            difference = a[i, k] - b[i, k]
            total += difference * difference
        out[i] = total
