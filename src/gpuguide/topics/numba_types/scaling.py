"""One multiplication for each eight bytes: a float64 by accident where memory sets the pace."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.numba_types.kernels import (
    scale_by_float32_kernel,
    scale_by_python_float_kernel,
)

THREADS_PER_BLOCK = 256
SIZES = (2**26,)
FACTOR = 2.1


def scale_reference(x: np.ndarray) -> np.ndarray:
    """Multiply by the float32 that is nearest to 2.1.

    Parameters
    ----------
    x : ndarray of float64, shape (n,)
        Any numbers.

    Returns
    -------
    ndarray of float64, shape (n,)
        The products.

    Examples
    --------
    >>> scale_reference(np.array([0.0, 10.0])).round(6).tolist()
    [0.0, 20.999999]
    """
    return x * float(np.float32(FACTOR))


def scale_by_python_float(x: Any, out: Any) -> None:
    """Multiply by 2.1 as it stands: in 64 bits.

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
    ...     scale_by_python_float(np.ones(2), np.ones(2))
    ... except ArgumentError as error:
    ...     print(error)
    scale takes two float32 vectors of one length; got (2,) float64 and (2,) float64.
    """
    _launch(scale_by_python_float_kernel, x, out)


def scale_by_float32(x: Any, out: Any) -> None:
    """Multiply in 32 bits.

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
    ...     scale_by_float32(np.ones(2, np.float32), np.ones(3, np.float32))
    ... except ArgumentError as error:
    ...     print(error)
    scale takes two float32 vectors of one length; got (2,) float32 and (3,) float32.
    """
    _launch(scale_by_float32_kernel, x, out)


def scale_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: each element is read once, each product written once.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read and written.

    Examples
    --------
    >>> scale_traffic(1000, "float32").bytes_total
    8000
    """
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(bytes_read=n_bytes, bytes_written=n_bytes)


def study() -> Study:
    """Describe the comparison of a multiplication in 64 bits with one in 32.

    Returns
    -------
    Study
        At 2**26 float32.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['python_float', 'float32']
    """
    calls = {"python_float": scale_by_python_float, "float32": scale_by_float32}
    return Study(
        name="scale",
        title="One multiplication for each element",
        variants=tuple(
            Variant(name, call, arrays="numba", traffic=scale_traffic)
            for name, call in calls.items()
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=scale_reference,
        dtype="float32",
        input_note="uniform random numbers from 0 to 1; 0 and 1 for the exact check",
        baseline="python_float",
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype),)


def _launch(kernel: Any, x: Any, out: Any) -> None:
    if x.ndim != 1 or x.shape != out.shape or not x.dtype == out.dtype == np.float32:
        raise ArgumentError(
            "scale takes two float32 vectors of one length; "
            f"got {x.shape} {x.dtype} and {out.shape} {out.dtype}."
        )
    if x.size:
        blocks_per_grid = blocks_1d(x.size, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(x), numba_view(out)
        )
