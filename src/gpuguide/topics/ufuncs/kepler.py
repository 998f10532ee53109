"""Kepler's equation as a ufunc: where a planet stands, with much arithmetic for each byte."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import array_module, current_stream, numba_view
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.ufuncs.kernels_kepler import (
    STEPS,
    anomaly_cpu_loop,
    cpu_threads_ufunc,
    cpu_ufunc,
    gpu_ufunc,
)
from gpuguide.topics.ufuncs.ufunc_rivals import ALL_THREADS, cpu_variant

MOST_ECCENTRIC = 0.8
OPERATIONS = 1 + 9 * STEPS
SIZES = (32**3, 128**3)


def anomaly_reference(mean: np.ndarray, eccentricity: np.ndarray) -> np.ndarray:
    """Solve Kepler's equation by bisection: slow and sure.

    Parameters
    ----------
    mean : ndarray, shape (n,)
        Mean anomaly in radians, from 0 to pi.
    eccentricity : ndarray, shape (n,)
        From 0 to 0.8.

    Returns
    -------
    ndarray of float64, shape (n,)
        Eccentric anomaly in radians.

    Examples
    --------
    >>> float(anomaly_reference(np.array([3.0]), np.array([0.0]))[0])
    3.0
    """
    mean, eccentricity = (np.asarray(x, np.float64) for x in (mean, eccentricity))
    low, high = mean.copy(), mean + eccentricity
    for _ in range(60):
        middle = (low + high) / 2
        too_high = middle - eccentricity * np.sin(middle) > mean
        high, low = np.where(too_high, middle, high), np.where(too_high, low, middle)
    return (low + high) / 2


class KeplerCheck:
    """Put back into Kepler's equation, the result is off by rounding alone.

    The equation is ``anomaly - eccentricity * sin(anomaly) = mean``. What is missing, divided by the
    slope, is how far the result lies from the solution; the slope is at least 0.2 here.

    Examples
    --------
    >>> check = KeplerCheck()
    >>> mean, eccentricity = np.array([1.0]), np.array([0.5])
    >>> right = anomaly_reference(mean, eccentricity)
    >>> largest, tolerance = check.compare(right, check.prepare((mean, eccentricity)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return the inputs.

        Parameters
        ----------
        inputs : tuple of two arrays, shape (n,)
            Mean anomaly and eccentricity.

        Returns
        -------
        tuple of two arrays, shape (n,)
            The same.
        """
        return inputs

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Put the result into the equation, in float64.

        Parameters
        ----------
        output : array, shape (n,)
            Eccentric anomaly.
        prepared : tuple of two arrays, shape (n,)
            Mean anomaly and eccentricity.

        Returns
        -------
        (float, float)
            Largest distance to the solution, and what rounding explains, in radians.

        Raises
        ------
        MismatchError
            An element is no number.
        """
        xp = array_module(output)
        anomaly, mean, eccentricity = (x.astype("float64") for x in (output, *prepared))
        missing = anomaly - eccentricity * xp.sin(anomaly) - mean
        slope = 1 - eccentricity * xp.cos(anomaly)
        distances = xp.abs(missing) / slope
        largest = float(distances.max()) if distances.size else 0.0
        if not math.isfinite(largest):
            raise MismatchError("An element of the result is no finite number.")
        return largest, 4 * float(np.finfo(np.float32).eps) / (1 - MOST_ECCENTRIC)


def anomaly_cpu(mean: np.ndarray, eccentricity: np.ndarray, out: np.ndarray) -> None:
    """Solve with @vectorize on one CPU thread.

    Parameters
    ----------
    mean, eccentricity, out : ndarray of float32, shape (n,)
        Inputs and output.

    Examples
    --------
    >>> circle = np.zeros(2, np.float32)
    >>> out = np.empty_like(circle)
    >>> anomaly_cpu(np.array([1, 2], np.float32), circle, out)
    >>> out.tolist()
    [1.0, 2.0]
    """
    cpu_ufunc()(mean, eccentricity, out=out)


def anomaly_cpu_threads(mean: np.ndarray, eccentricity: np.ndarray, out: np.ndarray) -> None:
    """Solve with @vectorize on all CPU threads.

    Parameters
    ----------
    mean, eccentricity, out : ndarray of float32, shape (n,)
        Inputs and output.

    Examples
    --------
    >>> circle = np.zeros(2, np.float32)
    >>> out = np.empty_like(circle)
    >>> anomaly_cpu_threads(np.array([1, 2], np.float32), circle, out)
    >>> out.tolist()
    [1.0, 2.0]
    """
    cpu_threads_ufunc()(mean, eccentricity, out=out)


def anomaly_ufunc(mean: Any, eccentricity: Any, out: Any) -> None:
    """Solve with the GPU's ufunc on arrays that lie on the GPU.

    Parameters
    ----------
    mean, eccentricity : device array of float32, shape (n,)
        Inputs.
    out : device array of float32, shape (n,)
        Filled with the eccentric anomaly.

    Raises
    ------
    ArgumentError
        The arrays are not float32 vectors of one length.

    Examples
    --------
    >>> try:
    ...     anomaly_ufunc(np.ones(2), np.ones(2), np.ones(2))
    ... except ValueError as error:
    ...     print(error)
    anomaly takes three float32 vectors of one length; got (2,) float64, (2,) float64, (2,) float64.
    """
    arrays = (mean, eccentricity, out)
    if not all(x.ndim == 1 and x.shape == out.shape and x.dtype == np.float32 for x in arrays):
        came = ", ".join(f"{x.shape} {x.dtype}" for x in arrays)
        raise ArgumentError(f"anomaly takes three float32 vectors of one length; got {came}.")
    if out.size:
        views = (numba_view(mean), numba_view(eccentricity))
        gpu_ufunc()(*views, out=numba_view(out), stream=current_stream())


def anomaly_from_numpy(mean_host: np.ndarray, eccentricity_host: np.ndarray) -> np.ndarray:
    """Solve with the GPU's ufunc on NumPy arrays: it copies them there, and the result back.

    Parameters
    ----------
    mean_host, eccentricity_host : ndarray of float32, shape (n,)
        In host memory.

    Returns
    -------
    ndarray of float32, shape (n,)
        A new array in host memory.
    """
    result: np.ndarray = gpu_ufunc()(mean_host, eccentricity_host)
    return result


def anomaly_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes and the operations as they are written; a sine counts as one.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read, bytes written, operations.

    Examples
    --------
    >>> anomaly_traffic(1000, "float32").flops
    73000
    """
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(
        bytes_read=2 * n_bytes, bytes_written=n_bytes, flops=n * OPERATIONS, unit="fp32"
    )


def study() -> Study:
    """Describe the comparison of ufuncs and a loop on the CPU with the ufunc of the GPU.

    Returns
    -------
    Study
        Five variants at 32**3 and 128**3 float32.

    Examples
    --------
    >>> study().names
    ('cpu', 'cpu_threads', 'cpu_loop', 'from_numpy', 'ufunc')
    """
    return Study(
        name="kepler",
        title="Kepler's equation",
        variants=(
            cpu_variant("cpu", anomaly_cpu, "CPU ufunc"),
            cpu_variant("cpu_threads", anomaly_cpu_threads, "CPU ufunc, threads", ALL_THREADS),
            cpu_variant("cpu_loop", anomaly_cpu_loop, "CPU loop, threads", ALL_THREADS),
            Variant(
                "from_numpy",
                anomaly_from_numpy,
                label="from NumPy arrays",
                clock="end_to_end",
                allocates=True,
                simulatable=False,
            ),
            Variant(
                "ufunc",
                anomaly_ufunc,
                label="GPU arrays",
                arrays="numba",
                traffic=anomaly_traffic,
                simulatable=False,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=KeplerCheck(),
        input_note="uniform random orbits; circles and whole numbers for the exact check",
        baseline="cpu_loop",
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:  # on a circle the result is the input
        return whole_numbers(rng, n, 4, dtype), np.zeros(n, dtype)
    half_turn = dtype.type(math.pi)
    return uniform(rng, n, dtype) * half_turn, uniform(rng, n, dtype) * dtype.type(
        MOST_ECCENTRIC
    )
