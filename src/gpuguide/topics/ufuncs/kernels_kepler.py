"""Kepler's equation: the function, the ufuncs made of it, and a loop."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numba
import numpy as np

from gpuguide.topics.ufuncs.kernels import SIGNATURES

STEPS = 8
ONE = np.float32(1)  # a bare 1.0 would turn everything into float64


def anomaly(mean: Any, eccentricity: Any) -> Any:
    """Solve Kepler's equation by eight steps of Newton's method.

    Parameters
    ----------
    mean : float32
        Mean anomaly in radians, from 0 to pi: the share of the orbit's time that has passed.
    eccentricity : float32
        From 0, a circle, to 0.8.

    Returns
    -------
    float32
        Eccentric anomaly in radians: where the planet stands.

    Examples
    --------
    >>> round(float(anomaly(np.float32(1), np.float32(0.5))), 4)
    1.4987
    """
    angle = mean + eccentricity
    for _ in range(STEPS):
        missing = angle - eccentricity * math.sin(angle) - mean
        angle = angle - missing / (ONE - eccentricity * math.cos(angle))
    return angle


@cache
def cpu_ufunc() -> Any:
    """Make a ufunc for one CPU thread of `anomaly`; compiled when this is called.

    Returns
    -------
    numba.np.ufunc.dufunc.DUFunc
        Of two float32.

    Examples
    --------
    >>> cpu_ufunc()(np.zeros(2, np.float32), np.zeros(2, np.float32)).tolist()
    [0.0, 0.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES)(anomaly)


@cache
def cpu_threads_ufunc() -> Any:
    """Make a ufunc for all CPU threads of `anomaly`; compiled when this is called.

    Returns
    -------
    numpy.ufunc
        Of two float32.

    Examples
    --------
    >>> cpu_threads_ufunc()(np.zeros(2, np.float32), np.zeros(2, np.float32)).tolist()
    [0.0, 0.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES, target="parallel")(anomaly)


@cache
def gpu_ufunc() -> Any:
    """Make a ufunc for the GPU of `anomaly`; its kernel is compiled at the first call.

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

    return vectorize(SIGNATURES, target="cuda")(anomaly)


# NumPy's error model, as in a ufunc: no test before each division whether it is one by zero.
anomaly_on_cpu = numba.njit(error_model="numpy")(anomaly)


@numba.njit(parallel=True, error_model="numpy")
def anomaly_cpu_loop(mean: Any, eccentricity: Any, out: Any) -> None:
    """Share out a plain loop among all CPU threads.

    Parameters
    ----------
    mean, eccentricity, out : ndarray of float32, shape (n,)
        Inputs and output.

    Raises
    ------
    ValueError
        The shapes differ.

    Examples
    --------
    >>> circle = np.zeros(2, np.float32)
    >>> out = np.empty_like(circle)
    >>> anomaly_cpu_loop(np.array([1, 2], np.float32), circle, out)
    >>> out.tolist()
    [1.0, 2.0]
    """
    if mean.shape != out.shape or eccentricity.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(out.size):
        out[i] = anomaly_on_cpu(mean[i], eccentricity[i])
