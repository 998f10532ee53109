"""The loops that are compiled again and again; the kernel beside them is that of `grids_2d_3d`."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import njit, prange


def larger_loops(a: Any, b: Any, out: Any) -> None:
    """Fill a box with the larger of two elements, in three loops.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output; `b` where one of them is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty((1, 1, 2), np.float32)
    >>> larger_loops(np.array([[[1.0, 5.0]]]), np.array([[[2.0, 3.0]]]), out)
    >>> out.tolist()
    [[[2.0, 5.0]]]
    """
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = a[i, j, k] if a[i, j, k] > b[i, j, k] else b[i, j, k]


def larger_parallel_loops(a: Any, b: Any, out: Any) -> None:
    """Fill a box with the larger of two elements; the outer loop may be shared out among threads.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output; `b` where one of them is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty((1, 1, 2), np.float32)
    >>> larger_parallel_loops(np.array([[[1.0, 5.0]]]), np.array([[[2.0, 3.0]]]), out)
    >>> out.tolist()
    [[[2.0, 5.0]]]
    """
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = a[i, j, k] if a[i, j, k] > b[i, j, k] else b[i, j, k]


@cache
def compiled_loops() -> Any:
    """Return the loops as @njit makes them, the same each time, so that they are compiled once.

    Returns
    -------
    numba.core.registry.CPUDispatcher
        Compiled at its first call.

    Examples
    --------
    >>> compiled_loops() is compiled_loops()
    True
    """
    return njit(larger_loops)
