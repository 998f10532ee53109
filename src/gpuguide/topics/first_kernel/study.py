"""Adding one to every element of a vector: a first kernel, and four ways to share out the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy, current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.first_kernel.kernels import (
    increment_by_hand_kernel,
    increment_four_per_thread_kernel,
    increment_grid_kernel,
    increment_grid_stride_kernel,
)

THREADS_PER_BLOCK = 256
MAX_BLOCKS = 1024
ITEMS_PER_THREAD = 4
HOST_MAX_SIZE = 2**24
HOST_MAX_SIZE_REASON = "left out above 2**24 elements to keep the run short"
SIZES = (2**10, 2**13, 2**16, 2**20, 2**24, 2**28)


def increment_reference(x: Any) -> Any:
    """Return ``x + 1``: the definition of correct.

    Parameters
    ----------
    x : array of float64, shape (n,)
        Any values.

    Returns
    -------
    array of float64, shape (n,)
        A new array.

    Examples
    --------
    >>> increment_reference(np.array([1.0, 2.5])).tolist()
    [2.0, 3.5]
    """
    return x + 1


def increment_python(x: np.ndarray) -> None:
    """Add one in a Python loop, one element at a time.

    Parameters
    ----------
    x : ndarray of float64, shape (n,)
        Changed in place.

    Examples
    --------
    >>> x = np.array([1.0, 2.5])
    >>> increment_python(x)
    >>> x.tolist()
    [2.0, 3.5]
    """
    for i in range(len(x)):
        x[i] += 1


def increment_numpy(x: np.ndarray) -> None:
    """Add one with NumPy's x += 1: a compiled loop on one thread.

    Parameters
    ----------
    x : ndarray of float64, shape (n,)
        Changed in place.

    Examples
    --------
    >>> x = np.array([1.0, 2.5])
    >>> increment_numpy(x)
    >>> x.tolist()
    [2.0, 3.5]
    """
    x += 1


def increment_by_hand(x: Any) -> None:
    """Give each thread one element, found from threadIdx, blockIdx and blockDim.

    Parameters
    ----------
    x : device array of float64, shape (n,)
        Changed in place.

    Raises
    ------
    ArgumentError
        `x` is not one-dimensional or not float64.

    Examples
    --------
    >>> try:
    ...     increment_by_hand(np.ones((2, 2)))
    ... except ValueError as error:
    ...     print(error)
    increment takes a one-dimensional float64 array; got shape (2, 2), float64. Use x.ravel().
    """
    n = _checked_size(x)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        increment_by_hand_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(x)
        )


def increment_grid(x: Any) -> None:
    """Give each thread one element, found by cuda.grid(1).

    Parameters
    ----------
    x : device array of float64, shape (n,)
        Changed in place.

    Raises
    ------
    ArgumentError
        `x` is not one-dimensional or not float64.

    Examples
    --------
    >>> try:
    ...     increment_grid(np.ones(2, np.float32))
    ... except ValueError as error:
    ...     print(error)
    increment takes a one-dimensional float64 array; got shape (2,), float32. Use x.astype("float64").
    """
    n = _checked_size(x)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        increment_grid_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(x)
        )


def increment_grid_stride(x: Any) -> None:
    """Launch at most 1024 blocks, whose threads loop over the vector in steps of the grid.

    Parameters
    ----------
    x : device array of float64, shape (n,)
        Changed in place.

    Raises
    ------
    ArgumentError
        `x` is not one-dimensional or not float64.

    Examples
    --------
    >>> try:
    ...     increment_grid_stride(np.ones((1, 3)))
    ... except ValueError as error:
    ...     print(error)
    increment takes a one-dimensional float64 array; got shape (1, 3), float64. Use x.ravel().
    """
    n = _checked_size(x)
    if n:
        blocks_per_grid = min(blocks_1d(n, THREADS_PER_BLOCK), MAX_BLOCKS)
        increment_grid_stride_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(x)
        )


def increment_four_per_thread(x: Any) -> None:
    """Give each thread four elements, a block's width apart.

    Parameters
    ----------
    x : device array of float64, shape (n,)
        Changed in place.

    Raises
    ------
    ArgumentError
        `x` is not one-dimensional or not float64.

    Examples
    --------
    >>> try:
    ...     increment_four_per_thread(np.ones(2, np.int64))
    ... except ValueError as error:
    ...     print(error)
    increment takes a one-dimensional float64 array; got shape (2,), int64. Use x.astype("float64").
    """
    n = _checked_size(x)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        increment_four_per_thread_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(x)
        )


def increment_with_copies(x_host: np.ndarray) -> None:
    """Copy to the GPU, add one there, and copy back into the same host array.

    Parameters
    ----------
    x_host : ndarray of float64, shape (n,)
        In host memory; changed in place.

    Raises
    ------
    BackendError
        CuPy is missing.
    """
    x_device = cupy().asarray(x_host)
    increment_grid(x_device)
    x_device.get(out=x_host)


def increment_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes and operations: each element is read once and written once.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read, bytes written, additions.

    Examples
    --------
    >>> increment_traffic(65_536, "float64").bytes_total
    1048576
    """
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=n * itemsize, bytes_written=n * itemsize, flops=n, unit="fp64")


def study() -> Study:
    """Describe the comparison of two host loops, four kernels and a round trip with copies.

    Returns
    -------
    Study
        Seven variants from 2**10 to 2**28 float64, 65 536 among them.

    Examples
    --------
    >>> 65_536 in study().sizes
    True
    """
    return Study(
        name="increment",
        title="Adding one to every element of a vector",
        variants=(
            _on_host("python_loop", increment_python, "Python loop"),
            _on_host("numpy", increment_numpy, "NumPy"),
            _kernel("by_hand", increment_by_hand, "by hand"),
            _kernel("grid", increment_grid, "cuda.grid"),
            _kernel("grid_stride", increment_grid_stride, "grid-stride"),
            _kernel("four_per_thread", increment_four_per_thread, "four a thread"),
            Variant(
                "with_copies",
                increment_with_copies,
                label="with copies",
                clock="end_to_end",
                mutates=True,
                simulatable=False,
                max_size=HOST_MAX_SIZE,
                max_size_reason=HOST_MAX_SIZE_REASON,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=EqualCheck(increment_reference),
        dtype="float64",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="numpy",
    )


def _on_host(name: str, call: Callable[[np.ndarray], None], label: str) -> Variant:
    return Variant(
        name,
        call,
        label=label,
        device="cpu",
        clock="host",
        threads=1,
        mutates=True,
        traffic=increment_traffic,
        max_size=HOST_MAX_SIZE,
        max_size_reason=HOST_MAX_SIZE_REASON,
    )


def _kernel(name: str, call: Callable[[Any], None], label: str) -> Variant:
    return Variant(
        name, call, label=label, arrays="numba", mutates=True, traffic=increment_traffic
    )


def _checked_size(x: Any) -> int:
    if x.ndim != 1 or x.dtype != np.float64:
        cure = "x.ravel()" if x.ndim != 1 else 'x.astype("float64")'
        raise ArgumentError(
            f"increment takes a one-dimensional float64 array; got shape {x.shape}, {x.dtype}. Use {cure}."
        )
    return int(x.size)


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    # Counting up shows an element that ended up in the wrong place.
    return (np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype),)
