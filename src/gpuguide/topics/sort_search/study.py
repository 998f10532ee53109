"""Sorting and argsorting random numbers: NumPy, CuPy, CuPy in place, and CuPy with the copies.

The look-up of keys, the other half of the page, is the module `sparse_lookup`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
from gpuguide.topics.sort_search.cpu import THREADS, sort_numpy_threads
from gpuguide.topics.sort_search.sort_checks import ArgsortCheck, SortedCheck

SHORT: dict[str, Any] = {
    "max_size": 4096**2,
    "max_size_reason": "left out above 4096 * 4096 elements to keep the run short",
}
SIZES = (10**3, 10**4, 3 * 10**4, 10**5, 10**6, 4096**2, 10**8)
ARGSORT_SIZES = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7)


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
    """Copy to the GPU, cp.sort, and copy back into a host array that exists already."""
    cupy().sort(cupy().asarray(x_host)).get(out=out_host)


def sort_with_copies_pinned(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    x_device = cupy().empty(x_host.shape, x_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    stream = cupy().cuda.get_current_stream()
    x_device.set(x_host, stream=stream)
    cupy().sort(x_device).get(out=out_host)


def argsort_numpy(x: np.ndarray) -> np.ndarray:
    """Find the order with np.argsort on one thread."""
    return np.argsort(x)


def argsort_cupy(x: Any) -> Any:
    """Find the order with cp.argsort."""
    return cupy().argsort(x)


# What any sort must move. A real one passes over the data several times, so that its share of the ceiling
# says how many passes it is worth.
sort_traffic = streaming_traffic(reads=1, writes=1)


def argsort_traffic(n: int, dtype: Any) -> Traffic:
    """Count the bytes that any argsort must move: each element read once, one 8-byte index written for it."""
    return Traffic(bytes_read=n * np.dtype(dtype).itemsize, bytes_written=8 * n)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's sort with CuPy's, in place and with copies."""
    return Study(
        name="sort",
        title="Sorting random numbers",
        variants=(
            cpu_variant(
                "numpy",
                sort_numpy,
                "NumPy, one thread",
                allocates=True,
                traffic=sort_traffic,
                **SHORT,
            ),
            cpu_variant(
                "numpy_threads",
                sort_numpy_threads,
                "NumPy, all threads",
                THREADS,
                traffic=sort_traffic,
            ),
            cupy_variant("cupy", sort_cupy, "CuPy", allocates=True, traffic=sort_traffic),
            cupy_variant(
                "cupy_in_place",
                sort_cupy_in_place,
                "CuPy in place",
                mutates=True,
                traffic=sort_traffic,
            ),
            end_to_end_variant("with_copies", sort_with_copies, "CuPy, pageable copies"),
            end_to_end_variant(
                "with_copies_pinned",
                sort_with_copies_pinned,
                "CuPy, pinned copies",
                arrays="pinned",
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=SortedCheck(),
        dtype="float32",
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def argsort_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's argsort with CuPy's."""
    return Study(
        name="argsort",
        title="The order that sorts random numbers",
        variants=(
            cpu_variant(
                "numpy",
                argsort_numpy,
                "NumPy, one thread",
                allocates=True,
                traffic=argsort_traffic,
                **SHORT,
            ),
            cupy_variant("cupy", argsort_cupy, "CuPy", allocates=True, traffic=argsort_traffic),
        ),
        sizes=ARGSORT_SIZES,
        inputs=_inputs,
        check=ArgsortCheck(),
        output=lambda n, dtype: ((n,), np.dtype(np.int64)),
        dtype="float32",
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:  # whole numbers with many equal ones, where a sort that loses one would still look sorted
        return (whole_numbers(rng, n, 2**24, dtype),)
    return (uniform(rng, n, dtype),)
