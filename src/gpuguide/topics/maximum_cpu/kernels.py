"""The larger of two elements as Numba compiles it for the CPU: loops, parallel loops, a ufunc."""

from __future__ import annotations

import math
from typing import Any

import numba


@numba.njit
def larger(x: Any, y: Any) -> Any:
    """Return the larger number; not a number (NaN) if one of the two is none."""
    return x if x > y or math.isnan(x) else y


@numba.njit
def maximum_loops(a: Any, b: Any, out: Any) -> None:
    """Run the three loops as machine code, on one thread.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (l, m, n)
        Inputs, and the array that is filled.

    Raises
    ------
    ValueError
        The shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty((1, 1, 2), np.float32)
    >>> maximum_loops(np.float32([[[1, 4]]]), np.float32([[[2, 3]]]), out)
    >>> out.tolist()
    [[[2.0, 4.0]]]
    """
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = larger(a[i, j, k], b[i, j, k])


@numba.njit(parallel=True)
def maximum_parallel(a: Any, b: Any, out: Any) -> None:
    """Share out the first loop among all threads.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (l, m, n)
        Inputs, and the array that is filled.

    Raises
    ------
    ValueError
        The shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty((1, 1, 2), np.float32)
    >>> maximum_parallel(np.float32([[[1, 4]]]), np.float32([[[2, 3]]]), out)
    >>> out.tolist()
    [[[2.0, 4.0]]]
    """
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = larger(a[i, j, k], b[i, j, k])


@numba.vectorize
def larger_ufunc(x: Any, y: Any) -> Any:
    """Return the larger number; Numba makes a NumPy ufunc of it."""
    return x if x > y or math.isnan(x) else y
