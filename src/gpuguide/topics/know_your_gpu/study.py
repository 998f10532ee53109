"""What memory can do: one answer reached by writing alone, by copying and by reading two arrays.

Reading alone is the module `reading`.
"""

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
from gpuguide.topics.know_your_gpu.kernels import (
    ITEMS_PER_THREAD,
    PATTERN,
    THREADS_PER_BLOCK,
    copy_kernel,
    two_to_one_kernel,
    write_kernel,
)

SIZES = tuple(2**power for power in (12, 16, 20, 23, 25, 27, 30))


def pattern_reference(a: Any, b: Any) -> Any:
    """Return the first array: all variants write the same numbers, by different ways.

    Parameters
    ----------
    a : ndarray, shape (n,)
        ``i % 2**24`` at place i, so that a kernel can also work it out from i alone.
    b : ndarray, shape (n,)
        Nowhere larger than `a`, so that the larger of the two is `a`.

    Returns
    -------
    ndarray, shape (n,)
        A copy of `a`.

    Examples
    --------
    >>> pattern_reference(np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [0.0, 1.0]
    """
    return a.copy()


def write(a: Any, b: Any, out: Any) -> None:
    """Write only: the numbers follow from their places.

    Parameters
    ----------
    a, b : device array of float32, shape (n,)
        Not read.
    out : device array of float32, shape (n,)
        Filled with ``i % 2**24``.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float32 of one length.

    Examples
    --------
    >>> x = np.empty(3, np.float32)
    >>> try:
    ...     write(x, x, np.empty(4, np.float32))
    ... except ValueError as error:
    ...     print(error)
    expected one-dimensional float32 arrays of one length; got (3,) float32, (3,) float32, (4,) float32.
    """
    n = _checked_size(a, b, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        write_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](numba_view(out))


def copy(a: Any, b: Any, out: Any) -> None:
    """Read one array and write one.

    Parameters
    ----------
    a : device array of float32, shape (n,)
        What is copied.
    b : device array of float32, shape (n,)
        Not read.
    out : device array of float32, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float32 of one length.

    Examples
    --------
    >>> x = np.empty(3)
    >>> try:
    ...     copy(x, x, x)
    ... except ValueError as error:
    ...     print(error)
    expected one-dimensional float32 arrays of one length; got (3,) float64, (3,) float64, (3,) float64.
    """
    n = _checked_size(a, b, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        copy_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(a), numba_view(out)
        )


def two_to_one(a: Any, b: Any, out: Any) -> None:
    """Read two arrays and write one: the larger of each pair.

    Parameters
    ----------
    a, b : device array of float32, shape (n,)
        Compared element by element.
    out : device array of float32, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float32 of one length.

    Examples
    --------
    >>> x = np.empty((1, 3), np.float32)
    >>> try:
    ...     two_to_one(x, x, x)
    ... except ValueError as error:
    ...     print(error)
    expected one-dimensional float32 arrays of one length; got (1, 3) float32, (1, 3) float32, (1, 3) float32.
    """
    n = _checked_size(a, b, out)
    if n:
        arrays = map(numba_view, (a, b, out))
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        two_to_one_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](*arrays)


def copy_cupy(a: Any, b: Any, out: Any) -> None:
    """Copy with cp.copyto, which asks the driver to copy.

    Parameters
    ----------
    a : cupy.ndarray of float32, shape (n,)
        What is copied.
    b : cupy.ndarray of float32, shape (n,)
        Not read.
    out : cupy.ndarray of float32, shape (n,)
        Filled.
    """
    cupy().copyto(out, a)


def write_traffic(n_bytes: int, dtype: Any) -> Traffic:
    """Count the bytes of writing one array.

    Parameters
    ----------
    n_bytes : int
        Bytes of an array.
    dtype : dtype
        Type of its elements.

    Returns
    -------
    Traffic
        Bytes written.

    Examples
    --------
    >>> write_traffic(4096, "float32").bytes_written
    4096
    """
    return Traffic(bytes_written=n_bytes)


def copy_traffic(n_bytes: int, dtype: Any) -> Traffic:
    """Count the bytes of reading one array and writing another.

    Parameters
    ----------
    n_bytes : int
        Bytes of an array.
    dtype : dtype
        Type of its elements.

    Returns
    -------
    Traffic
        Bytes read and written.

    Examples
    --------
    >>> copy_traffic(4096, "float32").bytes_total
    8192
    """
    return Traffic(bytes_read=n_bytes, bytes_written=n_bytes)


def two_to_one_traffic(n_bytes: int, dtype: Any) -> Traffic:
    """Count the bytes of reading two arrays and writing a third.

    Parameters
    ----------
    n_bytes : int
        Bytes of an array.
    dtype : dtype
        Type of its elements.

    Returns
    -------
    Traffic
        Bytes read and written.

    Examples
    --------
    >>> two_to_one_traffic(4096, "float32").bytes_total
    12288
    """
    return Traffic(bytes_read=2 * n_bytes, bytes_written=n_bytes)


def study() -> Study:
    """Describe the comparison of three mixes of reading and writing, and of CuPy's copy.

    Returns
    -------
    Study
        Four variants from 2**12 to 2**30 bytes an array.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['write', 'copy', 'two_to_one', 'copy_cupy']
    """
    return Study(
        name="mixes",
        title="Writing, copying, and reading two arrays",
        variants=(
            _kernel("write", write, "write", write_traffic),
            _kernel("copy", copy, "copy 1 : 1", copy_traffic),
            _kernel("two_to_one", two_to_one, "read two, write one", two_to_one_traffic),
            Variant(
                "copy_cupy",
                copy_cupy,
                label="CuPy copyto",
                simulatable=False,
                traffic=copy_traffic,
            ),
        ),
        sizes=SIZES,
        inputs=_pattern_inputs,
        check=EqualCheck(pattern_reference),
        output=lambda n, dtype: ((n // np.dtype(dtype).itemsize,), dtype),
        dtype="float32",
        size_name="bytes an array",
        input_note="whole numbers counting up to 2**24 and starting again, and smaller random ones",
        baseline="copy",
    )


def _kernel(
    name: str, call: Callable[..., None], label: str, traffic: Callable[[int, Any], Traffic]
) -> Variant:
    return Variant(name, call, label=label, arrays="numba", traffic=traffic)


def _checked_size(*arrays: Any) -> int:
    shapes = {x.shape for x in arrays}
    if len(shapes) > 1 or any(x.ndim != 1 or x.dtype != np.float32 for x in arrays):
        came = ", ".join(f"{x.shape} {x.dtype}" for x in arrays)
        raise ArgumentError(
            f"expected one-dimensional float32 arrays of one length; got {came}."
        )
    return int(arrays[-1].size)


def _pattern_inputs(
    n_bytes: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    n = n_bytes // np.dtype(dtype).itemsize
    a = np.resize(np.arange(PATTERN + 1, dtype=dtype), n)
    b = uniform(rng, n, dtype)
    b *= a
    return a, np.floor(b, out=b) if exact else b
