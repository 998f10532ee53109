"""Sorting and argsorting random numbers: NumPy, CuPy, CuPy in place, and CuPy with the copies.

The look-up of keys, the other half of the page, is the module `sparse_lookup`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.machine.backends import cupy
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.sort_search.sort_checks import ArgsortCheck, SortedCheck

HOST_MAX_SIZE = 10**8
HOST_MAX_SIZE_REASON = "left out above 10**8 elements to keep the run short"
SIZES = (10**3, 10**4, 3 * 10**4, 10**5, 10**6, 4096**2, 10**8, 10**9)
ARGSORT_SIZES = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7)


def sort_numpy(x: np.ndarray) -> np.ndarray:
    """Sort with np.sort on one thread; it uses AVX-512 or AVX2 where the CPU has them.

    Parameters
    ----------
    x : ndarray of float32, shape (n,)
        In host memory.

    Returns
    -------
    ndarray of float32, shape (n,)
        A new, sorted array.

    Examples
    --------
    >>> sort_numpy(np.array([3, 1, 2], np.float32)).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.sort(x)


def sort_cupy(x: Any) -> Any:
    """Sort with cp.sort into a new array.

    Parameters
    ----------
    x : cupy.ndarray of float32, shape (n,)
        In device memory.

    Returns
    -------
    cupy.ndarray of float32, shape (n,)
        A new, sorted array.
    """
    return cupy().sort(x)


def sort_cupy_in_place(x: Any) -> None:
    """Sort with CuPy's x.sort(), which overwrites its input.

    Parameters
    ----------
    x : cupy.ndarray of float32, shape (n,)
        Sorted in place.
    """
    x.sort()


def sort_with_copies(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Copy to the GPU, cp.sort, and copy back into a host array that exists already.

    Parameters
    ----------
    x_host, out_host : ndarray of float32, shape (n,)
        In host memory; the second is filled.
    """
    cupy().sort(cupy().asarray(x_host)).get(out=out_host)


def argsort_numpy(x: np.ndarray) -> np.ndarray:
    """Find the order with np.argsort on one thread.

    Parameters
    ----------
    x : ndarray of float32, shape (n,)
        In host memory.

    Returns
    -------
    ndarray of int64, shape (n,)
        The order that sorts `x`.

    Examples
    --------
    >>> argsort_numpy(np.array([3, 1, 2], np.float32)).tolist()
    [1, 2, 0]
    """
    return np.argsort(x)


def argsort_cupy(x: Any) -> Any:
    """Find the order with cp.argsort.

    Parameters
    ----------
    x : cupy.ndarray of float32, shape (n,)
        In device memory.

    Returns
    -------
    cupy.ndarray of int64, shape (n,)
        The order that sorts `x`.
    """
    return cupy().argsort(x)


def sort_traffic(n: int, dtype: Any) -> Traffic:
    """Count the bytes that any sort must move: each element is read once and written once.

    A real sort passes over the data several times, so its share of the ceiling says how many passes it is
    worth.

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
    >>> sort_traffic(10**6, "float32").bytes_total
    8000000
    """
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=n * itemsize, bytes_written=n * itemsize)


def argsort_traffic(n: int, dtype: Any) -> Traffic:
    """Count the bytes that any argsort must move: each element read once, one 8-byte index written for it.

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
    >>> argsort_traffic(10**6, "float32").bytes_total
    12000000
    """
    return Traffic(bytes_read=n * np.dtype(dtype).itemsize, bytes_written=8 * n)


def study() -> Study:
    """Describe the comparison of NumPy's sort with CuPy's, in place and with copies.

    Returns
    -------
    Study
        Four variants from 10**3 to 10**9 float32, 4096**2 among them.

    Examples
    --------
    >>> 4096**2 in study().sizes
    True
    """
    return Study(
        name="sort",
        title="Sorting random numbers",
        variants=(
            _numpy(sort_numpy, sort_traffic),
            _cupy(sort_cupy, sort_traffic),
            Variant(
                "cupy_in_place",
                sort_cupy_in_place,
                label="CuPy in place",
                mutates=True,
                simulatable=False,
                traffic=sort_traffic,
            ),
            Variant(
                "with_copies",
                sort_with_copies,
                label="CuPy with copies",
                clock="end_to_end",
                simulatable=False,
                max_size=HOST_MAX_SIZE,
                max_size_reason=HOST_MAX_SIZE_REASON,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=SortedCheck(),
        dtype="float32",
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="numpy",
    )


def argsort_study() -> Study:
    """Describe the comparison of NumPy's argsort with CuPy's.

    Returns
    -------
    Study
        Two variants from 10**2 to 10**7 float32.

    Examples
    --------
    >>> argsort_study().name
    'argsort'
    """
    return Study(
        name="argsort",
        title="The order that sorts random numbers",
        variants=(
            _numpy(argsort_numpy, argsort_traffic),
            _cupy(argsort_cupy, argsort_traffic),
        ),
        sizes=ARGSORT_SIZES,
        inputs=_inputs,
        check=ArgsortCheck(),
        output=lambda n, dtype: ((n,), np.dtype(np.int64)),
        dtype="float32",
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="numpy",
    )


def _numpy(call: Callable[..., Any], traffic: Callable[[int, Any], Traffic]) -> Variant:
    return Variant(
        "numpy",
        call,
        label="NumPy",
        device="cpu",
        clock="host",
        threads=1,
        allocates=True,
        traffic=traffic,
        max_size=HOST_MAX_SIZE,
        max_size_reason=HOST_MAX_SIZE_REASON,
    )


def _cupy(call: Callable[..., Any], traffic: Callable[[int, Any], Traffic]) -> Variant:
    return Variant(
        "cupy", call, label="CuPy", allocates=True, simulatable=False, traffic=traffic
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:  # whole numbers with many equal ones, where a sort that loses one would still look sorted
        return (whole_numbers(rng, n, 2**24, dtype),)
    return (uniform(rng, n, dtype),)
