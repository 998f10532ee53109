"""A generalized ufunc: a function of whole rows, here the squared distance of two points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.ufuncs.kernels_rows import (
    cpu_gufunc,
    distance_cpu_loop,
    distance_kernel,
    gpu_gufunc,
)
from gpuguide.topics.ufuncs.ufunc_rivals import ALL_THREADS, cpu_variant

THREADS_PER_BLOCK = 256
N_COORDINATES = 3
SIZES = (32**3, 128**3)


def squared_distance_reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the squared distance of each point of `a` to that of `b`.

    Parameters
    ----------
    a, b : ndarray, shape (n, d)
        Points, one a row.

    Returns
    -------
    ndarray, shape (n,)
        A new array.

    Examples
    --------
    >>> squared_distance_reference(np.array([[0.0, 3.0]]), np.array([[4.0, 0.0]])).tolist()
    [25.0]
    """
    distances: np.ndarray = np.square(a - b).sum(axis=1)
    return distances


def distance_cpu(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call @guvectorize's ufunc on one CPU thread.

    Parameters
    ----------
    a, b : ndarray of float32, shape (n, d)
        Points, one a row.
    out : ndarray of float32, shape (n,)
        Filled with the squared distances.

    Examples
    --------
    >>> points = np.array([[0, 3], [4, 0]], np.float32)
    >>> out = np.empty(2, np.float32)
    >>> distance_cpu(points, points[::-1], out)
    >>> out.tolist()
    [25.0, 25.0]
    """
    cpu_gufunc()(a, b, out=out)


def distance_gufunc(a: Any, b: Any, out: Any) -> None:
    """Call @guvectorize's ufunc on the GPU: each thread takes a row.

    Parameters
    ----------
    a, b : device array of float32, shape (n, d)
        Points, one a row.
    out : device array of float32, shape (n,)
        Filled with the squared distances.

    Raises
    ------
    ArgumentError
        The arrays are not float32, or their shapes do not fit.

    Examples
    --------
    >>> points = np.zeros((2, 3), np.float32)
    >>> try:
    ...     distance_gufunc(points, points, points)
    ... except ValueError as error:
    ...     print(error)
    distance takes float32 arrays of shapes (n, d), (n, d), (n,); got (2, 3) float32, (2, 3) float32, ...
    """
    if _checked_size(a, b, out):
        stream = current_stream()
        gpu_gufunc()(numba_view(a), numba_view(b), out=numba_view(out), stream=stream)


def distance(a: Any, b: Any, out: Any) -> None:
    """Launch a kernel of our own that does the same.

    Parameters
    ----------
    a, b : device array of float32, shape (n, d)
        Points, one a row.
    out : device array of float32, shape (n,)
        Filled with the squared distances.

    Raises
    ------
    ArgumentError
        The arrays are not float32, or their shapes do not fit.

    Examples
    --------
    >>> try:
    ...     distance(np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(1))
    ... except ValueError as error:
    ...     print(error)
    distance takes float32 arrays of shapes (n, d), (n, d), (n,); got (1, 3) float64, (1, 3) float64, ...
    """
    n = _checked_size(a, b, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        distance_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(a), numba_view(b), numba_view(out)
        )


def distance_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes and operations for points with three coordinates.

    Parameters
    ----------
    n : int
        Number of pairs of points.
    dtype : dtype
        Type of the coordinates.

    Returns
    -------
    Traffic
        Bytes read, bytes written, operations.

    Examples
    --------
    >>> distance_traffic(1000, "float32").bytes_total
    28000
    """
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(
        bytes_read=2 * N_COORDINATES * n_bytes,
        bytes_written=n_bytes,
        flops=3 * N_COORDINATES * n,
        unit="fp32",
    )


def study() -> Study:
    """Describe the comparison of generalized ufuncs on CPU and GPU with a loop and a kernel.

    Returns
    -------
    Study
        Four variants at 32**3 and 128**3 pairs of points, float32.

    Examples
    --------
    >>> study().names
    ('cpu', 'cpu_loop', 'gufunc', 'kernel')
    """
    return Study(
        name="distance",
        title="Squared distance of two points",
        variants=(
            cpu_variant("cpu", distance_cpu, "CPU ufunc"),
            cpu_variant("cpu_loop", distance_cpu_loop, "CPU loop, threads", ALL_THREADS),
            Variant(
                "gufunc",
                distance_gufunc,
                label="generalized ufunc",
                arrays="numba",
                traffic=distance_traffic,
                simulatable=False,
            ),
            Variant(
                "kernel",
                distance,
                label="own kernel",
                arrays="numba",
                traffic=distance_traffic,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=squared_distance_reference,
        output=lambda n, dtype: ((n,), dtype),
        tolerance=Tolerance(serial=N_COORDINATES, scale=_largest_square),
        size_name="pairs of points",
        input_note="uniform random coordinates; whole numbers from -9 to 9 for the exact check",
        baseline="cpu_loop",
    )


def _largest_square(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    largest: np.ndarray = np.square(abs(a) + abs(b)).sum(axis=1)
    return largest


def _checked_size(a: Any, b: Any, out: Any) -> int:
    arrays = (a, b, out)
    fits = a.ndim == 2 and a.shape == b.shape and out.shape == a.shape[:1]
    if not fits or not all(x.dtype == np.float32 for x in arrays):
        came = ", ".join(f"{x.shape} {x.dtype}" for x in arrays)
        raise ArgumentError(
            f"distance takes float32 arrays of shapes (n, d), (n, d), (n,); got {came}."
        )
    return int(out.size)


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def points() -> np.ndarray:
        count = n * N_COORDINATES
        drawn = (
            whole_numbers(rng, count, 10, dtype, low=-9)
            if exact
            else uniform(rng, count, dtype)
        )
        return drawn.reshape(n, N_COORDINATES)

    return points(), points()
