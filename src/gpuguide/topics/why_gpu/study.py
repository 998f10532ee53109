"""One formula for very many numbers: in Python, in NumPy, on all threads of the CPU, and on the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import get_num_threads

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy, current_stream, numba_view
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.why_gpu.kernels import (
    COEFFICIENTS,
    DEGREE,
    polynomial_kernel,
    polynomial_threads,
)

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
THREADS_PER_BLOCK = 256
THREADS = int(get_num_threads())
_PART = 1 << 20


def polynomial_reference(x: np.ndarray) -> np.ndarray:
    """Add up coefficient times power, one power after the other.

    Parameters
    ----------
    x : ndarray, shape (n,)
        Any numbers.

    Returns
    -------
    ndarray of float64, shape (n,)
        The values of the polynomial with `COEFFICIENTS`.

    Examples
    --------
    >>> polynomial_reference(np.array([0.0, 1.0, 2.0])).tolist()
    [5.0, 9.0, 165.0]
    """
    out = np.zeros(x.size)

    def one(start: int) -> None:
        part = slice(start, start + _PART)
        power = np.ones(out[part].size)
        for coefficient in COEFFICIENTS[::-1].astype(np.float64):
            out[part] += coefficient * power
            power *= x[part]

    in_threads(one, range(0, x.size, _PART), out.nbytes)
    return out


def polynomial_python(x: np.ndarray, out: np.ndarray) -> None:
    """Work through the numbers in a Python loop.

    Parameters
    ----------
    x, out : ndarray of float32, shape (n,)
        Input, and the array that is filled.

    Examples
    --------
    >>> out = np.empty(3, np.float32)
    >>> polynomial_python(np.float32([0, 1, 2]), out)
    >>> out.tolist()
    [5.0, 9.0, 165.0]
    """
    coefficients = COEFFICIENTS.tolist()
    for i, value in enumerate(x.tolist()):
        total = 0.0
        for coefficient in coefficients:
            total = total * value + coefficient
        out[i] = total


def polynomial_numpy(x: np.ndarray, out: np.ndarray) -> None:
    """Call np.polyval: on one thread, two compiled loops for each coefficient.

    Parameters
    ----------
    x, out : ndarray of float32, shape (n,)
        Input, and the array that is filled.

    Examples
    --------
    >>> out = np.empty(3, np.float32)
    >>> polynomial_numpy(np.float32([0, 1, 2]), out)
    >>> out.tolist()
    [5.0, 9.0, 165.0]
    """
    out[:] = np.polyval(COEFFICIENTS, x)


def polynomial_gpu(x: Any, out: Any) -> None:
    """Launch one thread for each number; input and output are in the memory of the GPU.

    Parameters
    ----------
    x, out : device array of float32, shape (n,)
        Input, and the array that is filled.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float32 of one length.

    Examples
    --------
    >>> try:
    ...     polynomial_gpu(np.ones(2), np.ones(2))
    ... except ArgumentError as error:
    ...     print(error)
    polynomial takes two float32 vectors of one length; got shapes (2,), (2,), dtypes float64, float64.
    """
    if x.ndim != 1 or x.shape != out.shape or not x.dtype == out.dtype == np.float32:
        raise ArgumentError(
            "polynomial takes two float32 vectors of one length; got shapes "
            f"{x.shape}, {out.shape}, dtypes {x.dtype}, {out.dtype}."
        )
    if x.size:
        blocks_per_grid = blocks_1d(x.size, THREADS_PER_BLOCK)
        polynomial_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(x), numba_view(out)
        )


def polynomial_gpu_with_copies(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Copy the numbers to the GPU, launch there, and copy the results back.

    Parameters
    ----------
    x_host, out_host : ndarray of float32, shape (n,)
        Input, and the array that is filled; both in ordinary host memory.

    Raises
    ------
    BackendError
        CuPy is missing.
    """
    out_device = cupy().empty(x_host.shape, np.float32)
    polynomial_gpu(cupy().asarray(x_host), out_device)
    out_device.get(out=out_host)


def polynomial_traffic(n: int, dtype: Any) -> Traffic:
    """Count unique bytes and operations: each number is read once, each result written once.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read and written, and a multiplication and an addition for each power.

    Examples
    --------
    >>> polynomial_traffic(1000, "float32").flops
    14000
    """
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(bytes_read=n_bytes, bytes_written=n_bytes, flops=2 * DEGREE * n, unit="fp32")


def study() -> Study:
    """Describe the comparison: three ways on the CPU, two with the GPU, all by the clock on the wall.

    Returns
    -------
    Study
        Five variants from 10**3 to 10**9 float32.

    Examples
    --------
    >>> study().sizes[0], study().sizes[-1]
    (1000, 1000000000)
    """
    return Study(
        name="polynomial",
        title="A polynomial of degree 7 for many numbers",
        variants=(
            _on_cpu("python", polynomial_python, "Python", 1),
            _on_cpu("numpy", polynomial_numpy, "NumPy", 1),
            _on_cpu("threads", polynomial_threads, "CPU, all threads", THREADS),
            Variant(
                "gpu",
                polynomial_gpu,
                label="GPU",
                arrays="numba",
                clock="end_to_end",
                traffic=polynomial_traffic,
            ),
            Variant(
                "with_copies",
                polynomial_gpu_with_copies,
                label="GPU with copies",
                clock="end_to_end",
                simulatable=False,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=polynomial_reference,
        tolerance=Tolerance(c=2, serial=2 * DEGREE, scale=sum_of_coefficients),
        dtype="float32",
        input_note="uniform random numbers from 0 to 1; whole numbers from -3 to 3 for the exact check",
        baseline="numpy",
    )


def _on_cpu(name: str, call: Callable[..., None], label: str, threads: int) -> Variant:
    return Variant(
        name,
        call,
        label=label,
        device="cpu",
        clock="host",
        threads=threads,
        traffic=polynomial_traffic,
    )


def sum_of_coefficients(x: np.ndarray) -> float:
    """Return a bound of the polynomial's terms, added up without signs, for numbers from 0 to 1."""
    return float(np.abs(COEFFICIENTS).sum())


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 4, dtype, low=-3) if exact else uniform(rng, n, dtype),)
