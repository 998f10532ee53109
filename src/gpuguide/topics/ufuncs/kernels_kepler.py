"""Kepler's equation: the function, the ufuncs made of it, and a loop."""

import math
from functools import cache

import numba
import numpy as np

from gpuguide.topics.ufuncs.kernels import SIGNATURES

STEPS = 8
ONE = np.float32(1)  # a bare 1.0 would turn everything into float64


def anomaly(mean, eccentricity):
    """Solve Kepler's equation by eight steps of Newton's method.

    >>> round(float(anomaly(np.float32(1), np.float32(0.5))), 4)
    1.4987
    """
    angle = mean + eccentricity
    for _ in range(STEPS):
        missing = angle - eccentricity * math.sin(angle) - mean
        angle = angle - missing / (ONE - eccentricity * math.cos(angle))
    return angle


@cache
def cpu_ufunc():
    """Make a ufunc for one CPU thread of `anomaly`; compiled when this is called.

    >>> cpu_ufunc()(np.zeros(2, np.float32), np.zeros(2, np.float32)).tolist()
    [0.0, 0.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES)(anomaly)


@cache
def cpu_threads_ufunc():
    """Make a ufunc for all CPU threads of `anomaly`; compiled when this is called.

    >>> cpu_threads_ufunc()(np.zeros(2, np.float32), np.zeros(2, np.float32)).tolist()
    [0.0, 0.0]
    """
    from numba import vectorize

    return vectorize(SIGNATURES, target="parallel")(anomaly)


@cache
def gpu_ufunc():
    """Make a ufunc for the GPU of `anomaly`; its kernel is compiled at the first call."""
    from numba import vectorize

    return vectorize(SIGNATURES, target="cuda")(anomaly)


# NumPy's error model, as in a ufunc: no test before each division whether it is one by zero.
anomaly_on_cpu = numba.njit(error_model="numpy")(anomaly)


@numba.njit(parallel=True, error_model="numpy")
def anomaly_cpu_loop(mean, eccentricity, out):
    """Share out a plain loop among all CPU threads."""
    if mean.shape != out.shape or eccentricity.shape != out.shape:
        raise ValueError("expected three arrays of one shape")
    for i in numba.prange(out.size):
        out[i] = anomaly_on_cpu(mean[i], eccentricity[i])
