"""The CPU's side: a ufunc for one thread, and plain loops whose rounds all threads share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from gpuguide.topics.ufuncs.functions import SIGNATURES, anomaly, larger

THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time


@cache
def cpu_ufunc() -> Any:
    """Make a ufunc for one CPU thread of `larger`; compiled when this is called.

    >>> cpu_ufunc()(np.float32(2), np.array([1, 3], np.float32)).tolist()
    [2.0, 3.0]
    """
    return numba.vectorize(SIGNATURES)(larger)


def maximum_cpu(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the ufunc on one CPU thread, into an array that exists already."""
    cpu_ufunc()(a, b, out=out)


larger_on_cpu = numba.njit(larger)


@numba.njit(parallel=True)
def maximum_cpu_loop(a, b, out):
    """Share out a plain loop among all CPU threads."""
    # Numba does not check indices: other shapes would be written past their end.
    if a.shape != out.shape or b.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(out.size):
        out[i] = larger_on_cpu(a[i], b[i])


# NumPy's error model, as in a ufunc: no test before each division whether it is one by zero.
anomaly_on_cpu = numba.njit(error_model="numpy")(anomaly)


@numba.njit(parallel=True, error_model="numpy")
def anomaly_cpu_loop(mean, eccentricity, out):
    """Share out a plain loop among all CPU threads."""
    if mean.shape != out.shape or eccentricity.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(out.size):
        out[i] = anomaly_on_cpu(mean[i], eccentricity[i])
