"""The larger of two elements as a ufunc: on the CPU, on the GPU, and against a kernel of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import array_module, current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.ufuncs.kernels import (
    cpu_threads_ufunc,
    cpu_ufunc,
    gpu_ufunc,
    maximum_cpu_loop,
    maximum_kernel,
)
from gpuguide.topics.ufuncs.ufunc_rivals import ALL_THREADS, cpu_variant

THREADS_PER_BLOCK = 256
SIZES = tuple(edge**3 for edge in (16, 32, 64, 128, 256, 512))
EXACT_BELOW = 2**24
"""Whole numbers up to here are exact in float32."""


def maximum_reference(a: Any, b: Any) -> Any:
    """Return the larger of two arrays, element by element, and `b` where one of them is NaN.

    Parameters
    ----------
    a, b : array of float32, shape (n,)
        Any values.

    Returns
    -------
    array of float32, shape (n,)
        A new array.

    Examples
    --------
    >>> maximum_reference(np.array([1.0, 5.0]), np.array([2.0, 3.0])).tolist()
    [2.0, 5.0]
    """
    return array_module(a).where(a > b, a, b)


def maximum_cpu(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the ufunc on one CPU thread, into an array that exists already.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (n,)
        Inputs and output.

    Examples
    --------
    >>> a, b = np.array([[1, 5], [2, 3]], np.float32)
    >>> out = np.empty_like(a)
    >>> maximum_cpu(a, b, out)
    >>> out.tolist()
    [2.0, 5.0]
    """
    cpu_ufunc()(a, b, out=out)


def maximum_cpu_threads(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the ufunc of target="parallel" on all CPU threads.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (n,)
        Inputs and output.

    Examples
    --------
    >>> a, b = np.array([[1, 5], [2, 3]], np.float32)
    >>> out = np.empty_like(a)
    >>> maximum_cpu_threads(a, b, out)
    >>> out.tolist()
    [2.0, 5.0]
    """
    cpu_threads_ufunc()(a, b, out=out)


def maximum_ufunc(a: Any, b: Any, out: Any) -> None:
    """Call the GPU's ufunc on arrays that lie on the GPU.

    Parameters
    ----------
    a, b : device array of float32, shape (n,)
        Inputs.
    out : device array of float32, shape (n,)
        Filled with the larger of the two; with `b` where one is NaN.

    Raises
    ------
    ArgumentError
        The arrays are not float32 vectors of one length.

    Examples
    --------
    >>> try:
    ...     maximum_ufunc(np.ones(2), np.ones(2), np.ones(2))
    ... except ValueError as error:
    ...     print(error)
    maximum takes three float32 vectors of one length; got (2,) float64, (2,) float64, (2,) float64.
    """
    if _checked_size(a, b, out):
        stream = current_stream()
        gpu_ufunc()(numba_view(a), numba_view(b), out=numba_view(out), stream=stream)


def maximum_from_numpy(a_host: np.ndarray, b_host: np.ndarray) -> np.ndarray:
    """Call the GPU's ufunc on NumPy arrays: it copies them there, and the result back.

    Parameters
    ----------
    a_host, b_host : ndarray of float32, shape (n,)
        In host memory.

    Returns
    -------
    ndarray of float32, shape (n,)
        A new array in host memory.
    """
    result: np.ndarray = gpu_ufunc()(a_host, b_host)
    return result


def maximum(a: Any, b: Any, out: Any) -> None:
    """Launch a kernel of our own that does the same.

    Parameters
    ----------
    a, b : device array of float32, shape (n,)
        Inputs.
    out : device array of float32, shape (n,)
        Filled with the larger of the two; with `b` where one is NaN.

    Raises
    ------
    ArgumentError
        The arrays are not float32 vectors of one length.

    Examples
    --------
    >>> vector = np.zeros(3, np.float32)
    >>> try:
    ...     maximum(vector, vector, vector[:2])
    ... except ValueError as error:
    ...     print(error)
    maximum takes three float32 vectors of one length; got (3,) float32, (3,) float32, (2,) float32.
    """
    n = _checked_size(a, b, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        maximum_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(a), numba_view(b), numba_view(out)
        )


def maximum_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: two elements are read for each that is written.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read, bytes written; a comparison is not counted as an operation.

    Examples
    --------
    >>> maximum_traffic(32**3, "float32").bytes_total
    393216
    """
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(bytes_read=2 * n_bytes, bytes_written=n_bytes)


def study() -> Study:
    """Describe the comparison of ufuncs and a loop on the CPU with a ufunc and a kernel on the GPU.

    Returns
    -------
    Study
        Six variants from 16**3 to 512**3 float32.

    Examples
    --------
    >>> {32**3, 128**3, 256**3} <= set(study().sizes)
    True
    """
    return Study(
        name="maximum",
        title="The larger of two elements",
        variants=(
            cpu_variant("cpu", maximum_cpu, "CPU ufunc"),
            cpu_variant("cpu_threads", maximum_cpu_threads, "CPU ufunc, threads", ALL_THREADS),
            cpu_variant("cpu_loop", maximum_cpu_loop, "CPU loop, threads", ALL_THREADS),
            Variant(
                "from_numpy",
                maximum_from_numpy,
                label="from NumPy arrays",
                clock="end_to_end",
                allocates=True,
                simulatable=False,
            ),
            Variant(
                "ufunc",
                maximum_ufunc,
                label="GPU arrays",
                arrays="numba",
                traffic=maximum_traffic,
                simulatable=False,
            ),
            Variant(
                "kernel", maximum, label="own kernel", arrays="numba", traffic=maximum_traffic
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=EqualCheck(maximum_reference),
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="cpu_loop",
    )


def _checked_size(a: Any, b: Any, out: Any) -> int:
    arrays = (a, b, out)
    if not all(x.ndim == 1 and x.shape == a.shape and x.dtype == np.float32 for x in arrays):
        came = ", ".join(f"{x.shape} {x.dtype}" for x in arrays)
        raise ArgumentError(f"maximum takes three float32 vectors of one length; got {came}.")
    return int(out.size)


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:
        a, b = (whole_numbers(rng, n, EXACT_BELOW, dtype) for _ in range(2))
    else:
        a, b = uniform(rng, n, dtype), uniform(rng, n, dtype)
    return a, b
