"""Sorting, along an axis too, argsorting and searching: NumPy on one thread and on all, and CuPy."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    cpu_variant,
    cupy_variant,
    end_to_end_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.sort_search.checks import ArgsortCheck, SearchCheck, SortedCheck
from gpuguide.topics.sort_search.cpu import (
    THREADS,
    search_numpy_threads,
    sort_numpy_threads,
    sort_rows_numpy_threads,
)

SHORT: dict[str, Any] = {
    "max_size": 4096**2,
    "max_size_reason": "left out above 4096 * 4096 elements to keep the run short",
}
SIZES = (10**3, 10**4, 10**5, 10**6, 4096**2, 10**8)
N_KEYS = 10**6
INPUT_NOTE = "uniform random numbers; whole numbers below 2**24 for the exact check"


def sort_numpy(x: np.ndarray) -> np.ndarray:
    """Sort with np.sort on one thread; it uses AVX-512 or AVX2 where the CPU has them."""
    return np.sort(x)


def sort_cupy(x: Any) -> Any:
    """Sort with cp.sort into a new array."""
    return cupy().sort(x)


def sort_cupy_in_place(x: Any) -> None:
    """Sort with CuPy's x.sort(), which overwrites its input."""
    x.sort()


def sort_with_copies(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Copy to the GPU, sort there in place, and copy back into a host array that exists already."""
    x_device = cupy().asarray(x_host)
    x_device.sort()
    x_device.get(out=out_host)


def sort_with_copies_pinned(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    x_device = cupy().empty(x_host.shape, x_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    stream = cupy().cuda.get_current_stream()
    x_device.set(x_host, stream=stream)
    x_device.sort()
    x_device.get(out=out_host)


def sort_rows_numpy(x: np.ndarray) -> np.ndarray:
    """Sort each row with np.sort(x, axis=1) on one thread."""
    return np.sort(x, axis=1)


def sort_rows_cupy(x: Any) -> Any:
    """Sort each row with cp.sort(x, axis=1)."""
    return cupy().sort(x, axis=1)


def sort_rows_packed(x: Any) -> Any:
    """Put each row's number in front of its elements' bits, and sort all of it flat."""
    cp = cupy()
    row = cp.arange(x.shape[0], dtype=cp.uint64)[:, None] << 32
    packed = (row | x.view(cp.uint32)).ravel()
    packed.sort()
    return packed.astype(cp.uint32).view(cp.float32).reshape(x.shape)


def argsort_numpy(x: np.ndarray) -> np.ndarray:
    """Find the order with np.argsort on one thread."""
    return np.argsort(x)


def argsort_cupy(x: Any) -> Any:
    """Find the order with cp.argsort."""
    return cupy().argsort(x)


def search_numpy(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Find the places with np.searchsorted on one thread."""
    return np.searchsorted(keys, queries)


def search_cupy(queries: Any, keys: Any) -> Any:
    """Find the places with cp.searchsorted."""
    return cupy().searchsorted(keys, queries)


# What any sort must move. A real one passes over the data several times, so that its share of the ceiling
# says how many passes it is worth.
sort_traffic = streaming_traffic(reads=1, writes=1)


def argsort_traffic(n: int, dtype: Any) -> Traffic:
    """Count the bytes that any argsort must move: each element read once, one 8-byte index written for it."""
    return Traffic(bytes_read=n * np.dtype(dtype).itemsize, bytes_written=8 * n)


def search_traffic(n: int, dtype: Any) -> Traffic:
    """Count unique bytes: each number read once, one 8-byte place written, and the keys that are met."""
    itemsize = np.dtype(dtype).itemsize
    # A search among a million keys meets twenty of them.
    return Traffic(bytes_read=(n + min(20 * n, N_KEYS)) * itemsize, bytes_written=8 * n)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's sort with CuPy's, in place and with copies."""
    return Study(
        name="sort",
        title="Sorting random numbers",
        variants=(
            cpu_variant("numpy", sort_numpy, "NumPy, one thread", allocates=True, **SHORT),
            cpu_variant(
                "numpy_threads", sort_numpy_threads, "NumPy, all threads", THREADS, **SHORT
            ),
            cupy_variant("cupy", sort_cupy, "CuPy", allocates=True, traffic=sort_traffic),
            cupy_variant(
                "cupy_in_place",
                sort_cupy_in_place,
                "CuPy in place",
                mutates=True,
                traffic=sort_traffic,
            ),
            end_to_end_variant(
                "with_copies", sort_with_copies, "CuPy, pageable copies", **SHORT
            ),
            end_to_end_variant(
                "with_copies_pinned",
                sort_with_copies_pinned,
                "CuPy, pinned copies",
                arrays="pinned",
                **SHORT,
            ),
        ),
        sizes=SIZES,
        inputs=_numbers,
        check=SortedCheck(),
        dtype="float32",
        input_note=INPUT_NOTE,
        baseline="numpy",
        kernels=kernels,
    )


def rows_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of sorts along the last axis of a square matrix."""
    return Study(
        name="rows",
        title="Sorting each row of a matrix",
        variants=(
            cpu_variant("rows_numpy", sort_rows_numpy, "NumPy, one thread", allocates=True),
            cpu_variant(
                "rows_numpy_threads", sort_rows_numpy_threads, "NumPy, all threads", THREADS
            ),
            cupy_variant(
                "rows_cupy",
                sort_rows_cupy,
                "CuPy, axis=1",
                allocates=True,
                traffic=sort_traffic,
            ),
            cupy_variant(
                "rows_packed",
                sort_rows_packed,
                "CuPy, packed and flat",
                allocates=True,
                traffic=sort_traffic,
            ),
        ),
        sizes=(4096**2,),
        inputs=_matrix,
        check=SortedCheck(),
        dtype="float32",
        input_note=f"a square matrix: {INPUT_NOTE}",
        baseline="rows_numpy_threads",
        kernels=kernels,
    )


def argsort_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's argsort with CuPy's."""
    return Study(
        name="argsort",
        title="The order that sorts random numbers",
        variants=(
            cpu_variant("argsort_numpy", argsort_numpy, "NumPy, one thread", allocates=True),
            cupy_variant(
                "argsort_cupy", argsort_cupy, "CuPy", allocates=True, traffic=argsort_traffic
            ),
        ),
        sizes=(10**6,),
        inputs=_numbers,
        check=ArgsortCheck(),
        output=lambda n, dtype: ((n,), np.dtype(np.int64)),
        dtype="float32",
        input_note=INPUT_NOTE,
        baseline="argsort_numpy",
        kernels=kernels,
    )


def search_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of searches for random numbers among a million sorted ones."""
    return Study(
        name="search",
        title="The places of random numbers among a million sorted ones",
        variants=(
            cpu_variant("search_numpy", search_numpy, "NumPy, one thread", allocates=True),
            cpu_variant(
                "search_numpy_threads", search_numpy_threads, "NumPy, all threads", THREADS
            ),
            cupy_variant(
                "search_cupy", search_cupy, "CuPy", allocates=True, traffic=search_traffic
            ),
        ),
        sizes=(10**6,),
        inputs=_queries_and_keys,
        check=SearchCheck(),
        output=lambda n, dtype: ((n,), np.dtype(np.int64)),
        dtype="float32",
        size_name="searches",
        input_note="uniform random numbers; whole numbers with many equal ones for the exact check",
        baseline="search_numpy_threads",
        kernels=kernels,
    )


def _numbers(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:  # whole numbers with many equal ones, where a sort that loses one would still look sorted
        return (whole_numbers(rng, n, 2**24, dtype),)
    return (uniform(rng, n, dtype),)


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    edge = isqrt(n)
    if edge * edge != n:
        raise ArgumentError(f"The rows are those of a square matrix; {n} is no square.")
    return (_numbers(n, dtype, rng, exact)[0].reshape(edge, edge),)


def _queries_and_keys(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:
        return whole_numbers(rng, n, 2**16, dtype), np.sort(
            whole_numbers(rng, N_KEYS, 2**16, dtype)
        )
    return uniform(rng, n, dtype), np.sort(uniform(rng, N_KEYS, dtype))
