"""The CPU's side: a ufunc for one thread, loops whose rounds all threads share, and NumPy in parts."""

from functools import cache

import numba
import numpy as np

from gpuguide.machine.cpu import thread_pool
from gpuguide.topics.ufuncs.functions import SIGNATURES, STEPS, anomaly, larger

# In the second-level cache of a core there is room for the six arrays of a part, and hardly any for more.
PART = 2**16


@cache
def cpu_ufunc():
    """Make a ufunc for one CPU thread of `larger`; compiled when this is called."""
    return numba.vectorize(SIGNATURES)(larger)


def maximum_cpu(a, b, out):
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


def anomaly_numpy(mean, eccentricity):
    """Solve with NumPy on one thread: each operator works through whole arrays."""
    angle = mean + eccentricity
    for _ in range(STEPS):
        missing = angle - eccentricity * np.sin(angle) - mean
        angle = angle - missing / (1 - eccentricity * np.cos(angle))
    return angle


def anomaly_numpy_threads(mean, eccentricity, out):
    """Solve with NumPy on all threads, in parts that stay in a core's cache."""

    def solve(start):
        part = slice(start, start + PART)
        anomaly_part(mean[part], eccentricity[part], out[part])

    list(thread_pool().map(solve, range(0, out.size, PART)))  # list waits for the threads


def anomaly_part(mean, eccentricity, angle):
    """Solve a part; each result of an operation takes the place of one that is used up."""
    np.add(mean, eccentricity, out=angle)
    missing, slope = np.empty_like(angle), np.empty_like(angle)
    for _ in range(STEPS):
        np.multiply(eccentricity, np.sin(angle, out=missing), out=missing)
        np.subtract(angle, missing, out=missing)
        np.subtract(missing, mean, out=missing)
        np.multiply(eccentricity, np.cos(angle, out=slope), out=slope)
        np.subtract(1, slope, out=slope)
        np.divide(missing, slope, out=missing)
        np.subtract(angle, missing, out=angle)
