"""The larger of two numbers, element by element: its kernels at any launch size."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import device
from gpuguide.machine.backends import array_module, cupy, current_stream, numba_view, simulated
from gpuguide.machine.launch import blocks_1d, grid_stride_blocks
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.launch_sizes.kernels import GRID_STRIDE_KERNELS, KERNELS

THREADS_PER_BLOCK = 256
BLOCKS_PER_SM = 8
SIZES = (2**12, 2**16, 2**20, 2**24, 2**26, 2**28)
SIMULATED_MULTIPROCESSORS = 2


def maximum_reference(a: Any, b: Any) -> Any:
    """Choose the larger of each pair by comparisons alone; not a number (NaN) wins.

    Parameters
    ----------
    a, b : array of float32 or float64, of one shape
        Any values. Where one of a pair is NaN the result is NaN; of two zeros of different sign either
        may be chosen.

    Returns
    -------
    array
        A new one of the same shape.

    Examples
    --------
    >>> maximum_reference(np.array([1.0, np.nan, 5.0]), np.array([2.0, 3.0, 4.0])).tolist()
    [2.0, nan, 5.0]
    """
    xp = array_module(a)
    return xp.where((a > b) | xp.isnan(a), a, b)


def maximum(
    a: Any,
    b: Any,
    out: Any,
    items_per_thread: int = 4,
    threads_per_block: int = THREADS_PER_BLOCK,
) -> None:
    """Launch as many blocks as cover the arrays once.

    Parameters
    ----------
    a, b : device array of float32, shape (n,)
        Compared element by element.
    out : device array of float32, shape (n,)
        Filled; NaN where one of the two is NaN.
    items_per_thread : {1, 2, 4, 8}
        Elements of each thread, a block's width apart.
    threads_per_block : int
        1 to 1024.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float32 of one length, or a number is out of range.

    Examples
    --------
    >>> try:
    ...     maximum(np.empty(3), np.empty(3), np.empty(3))
    ... except ValueError as error:
    ...     print(error)
    expected one-dimensional float32 arrays of one length; got (3,) float64, (3,) float64, (3,) float64.
    """
    n = checked_size(a, b, out)
    kernel = _chosen(KERNELS, items_per_thread)
    if n:
        blocks_per_grid = blocks_1d(-(-n // items_per_thread), threads_per_block)
        arrays = map(numba_view, (a, b, out))
        kernel[blocks_per_grid, threads_per_block, current_stream()](*arrays)


def maximum_grid_stride(
    a: Any,
    b: Any,
    out: Any,
    items_per_thread: int = 1,
    threads_per_block: int = THREADS_PER_BLOCK,
    blocks_per_sm: int = BLOCKS_PER_SM,
) -> None:
    """Launch a fixed number of blocks a multiprocessor, whose threads loop over the arrays.

    Parameters
    ----------
    a, b, out : device array of float32, shape (n,)
        As for `maximum`.
    items_per_thread : {1, 4}
        Elements of each thread in one turn of the loop.
    threads_per_block : int
        1 to 1024.
    blocks_per_sm : int
        Blocks for each multiprocessor of this GPU.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float32 of one length, or a number is out of range.

    Examples
    --------
    >>> x = np.empty(3, np.float32)
    >>> try:
    ...     maximum_grid_stride(x, x, x, items_per_thread=3)
    ... except ValueError as error:
    ...     print(error)
    items_per_thread must be 1 or 4; got 3.
    """
    n = checked_size(a, b, out)
    kernel = _chosen(GRID_STRIDE_KERNELS, items_per_thread)
    if n:
        n_items = -(-n // items_per_thread)
        blocks_per_grid = grid_stride_blocks(
            n_items, threads_per_block, multiprocessors(), blocks_per_sm
        )
        arrays = map(numba_view, (a, b, out))
        kernel[blocks_per_grid, threads_per_block, current_stream()](*arrays)


def maximum_cupy(a: Any, b: Any, out: Any) -> None:
    """Call CuPy's ufunc, which launches a kernel that CuPy has generated.

    Parameters
    ----------
    a, b, out : cupy.ndarray of float32, shape (n,)
        As for `maximum`.
    """
    cupy().maximum(a, b, out=out)


def maximum_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: two elements are read for one that is written. A comparison is no FLOP.

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
    >>> maximum_traffic(1000, "float32").bytes_total
    12000
    """
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=2 * n * itemsize, bytes_written=n * itemsize)


def study() -> Study:
    """Describe the comparison of CuPy's ufunc with kernels that give a thread more or less to do.

    Returns
    -------
    Study
        Five variants from 2**12 to 2**28 float32.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['cupy', 'one', 'grid_stride', 'four', 'eight']
    """
    return Study(
        name="maximum",
        title="Element-wise maximum of two vectors",
        variants=(
            Variant(
                "cupy",
                maximum_cupy,
                label="CuPy maximum",
                simulatable=False,
                traffic=maximum_traffic,
            ),
            _items("one", 1),
            Variant(
                "grid_stride",
                maximum_grid_stride,
                label="grid-stride",
                arrays="numba",
                traffic=maximum_traffic,
            ),
            _items("four", 4),
            _items("eight", 8),
        ),
        sizes=SIZES,
        inputs=maximum_inputs,
        check=EqualCheck(maximum_reference),
        dtype="float32",
        input_note=INPUT_NOTE,
        baseline="cupy",
    )


INPUT_NOTE = "uniform random numbers, three in a thousand places with NaN; whole numbers for the exact check"


def maximum_inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    """Make two vectors with NaN in the first, in the second and in both.

    Parameters
    ----------
    n : int
        Length.
    dtype : numpy dtype
        Of floats.
    rng : numpy.random.Generator
        Source of the numbers.
    exact : bool
        Whole numbers from -1000 to 1000, else uniform ones from 0 to 1.

    Returns
    -------
    tuple of two ndarrays, shape (n,)
        NaN at the places 5 and 7 of every thousand in the first, 6 and 7 in the second.

    Examples
    --------
    >>> a, b = maximum_inputs(8, np.dtype("float32"), np.random.default_rng(0), True)
    >>> np.flatnonzero(np.isnan(a)).tolist(), np.flatnonzero(np.isnan(b)).tolist()
    ([5, 7], [6, 7])
    """
    pair = tuple(
        whole_numbers(rng, n, 1001, dtype, low=-1000) if exact else uniform(rng, n, dtype)
        for _ in range(2)
    )
    for x, place in zip(pair, (5, 6), strict=True):
        x[place::1000] = np.nan
        x[7::1000] = np.nan
    return pair


@functools.cache
def multiprocessors() -> int:
    """Count this GPU's multiprocessors; the simulator passes for a GPU with two.

    Returns
    -------
    int
        132 on an H200.

    Raises
    ------
    NoGpuError
        There is no GPU.
    """
    return SIMULATED_MULTIPROCESSORS if simulated() else device.require_gpu().sm_count


def checked_size(*arrays: Any) -> int:
    """Return the length of vectors of float32, or say what is wrong with them.

    Parameters
    ----------
    *arrays : array of float32, shape (n,)
        On the host or on the device.

    Returns
    -------
    int
        Their length.

    Raises
    ------
    ArgumentError
        They are not one-dimensional float32 of one length.

    Examples
    --------
    >>> checked_size(np.empty(3, np.float32), np.empty(3, np.float32))
    3
    """
    shapes = {x.shape for x in arrays}
    if len(shapes) > 1 or any(x.ndim != 1 or x.dtype != np.float32 for x in arrays):
        came = ", ".join(f"{x.shape} {x.dtype}" for x in arrays)
        raise ArgumentError(
            f"expected one-dimensional float32 arrays of one length; got {came}."
        )
    return int(arrays[-1].size)


def _chosen(kernels: dict[int, Any], items_per_thread: int) -> Any:
    if items_per_thread not in kernels:
        *most, last = kernels
        known = f"{', '.join(map(str, most))} or {last}"
        raise ArgumentError(f"items_per_thread must be {known}; got {items_per_thread!r}.")
    return kernels[items_per_thread]


def _items(name: str, items_per_thread: int) -> Variant:
    call: Callable[..., None] = functools.partial(maximum, items_per_thread=items_per_thread)
    return Variant(
        name,
        call,
        label=f"{name} a thread",
        arrays="numba",
        traffic=maximum_traffic,
        note=f"One launch over the arrays, {name} {'element' if name == 'one' else 'elements'} a thread.",
    )
