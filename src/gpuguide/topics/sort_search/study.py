"""Sorting, along an axis too, argsorting and searching: NumPy on one thread and on all, and CuPy."""

from math import isqrt

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.measure import (
    Study,
    cp,
    cpu,
    end_to_end,
    gpu,
    per_element,
    uniform,
    whole_numbers,
)
from gpuguide.results.records import Traffic
from gpuguide.topics.sort_search.checks import ArgsortCheck, SearchCheck, SortedCheck
from gpuguide.topics.sort_search.cpu import (
    numpy_threads,
    rows_numpy_threads,
    search_numpy_threads,
)

N_KEYS = 10**6
SHORT = 4096**2
INPUT_NOTE = "uniform random numbers; whole numbers below 2**24 for the exact check"


def numpy(x):
    """Sort with np.sort on one thread; it uses AVX-512 or AVX2 where the CPU has them."""
    return np.sort(x)


def cupy(x):
    """Sort with cp.sort into a new array."""
    return cp.sort(x)


def cupy_in_place(x):
    """Sort with CuPy's x.sort(), which overwrites its input."""
    x.sort()


def with_copies(x_host, out_host):
    """Copy to the GPU, sort there in place, and copy back into a host array that exists already."""
    x = cp.asarray(x_host)
    x.sort()
    x.get(out=out_host)


def with_copies_pinned(x_host, out_host):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    x = cp.empty(x_host.shape, x_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    x.set(x_host, stream=cp.cuda.get_current_stream())
    x.sort()
    x.get(out=out_host)


def rows_numpy(x):
    """Sort each row with np.sort(x, axis=1) on one thread."""
    return np.sort(x, axis=1)


def rows_cupy(x):
    """Sort each row with cp.sort(x, axis=1)."""
    return cp.sort(x, axis=1)


def rows_packed(x):
    """Put each row's number in front of its elements' bits, and sort all of it flat."""
    row = cp.arange(x.shape[0], dtype=cp.uint64)[:, None] << 32
    packed = (row | x.view(cp.uint32)).ravel()
    packed.sort()
    return packed.astype(cp.uint32).view(cp.float32).reshape(x.shape)


def argsort_numpy(x):
    """Find the order with np.argsort on one thread."""
    return np.argsort(x)


def argsort_cupy(x):
    """Find the order with cp.argsort."""
    return cp.argsort(x)


def search_numpy(queries, keys):
    """Find the places with np.searchsorted on one thread."""
    return np.searchsorted(keys, queries)


def search_cupy(queries, keys):
    """Find the places with cp.searchsorted."""
    return cp.searchsorted(keys, queries)


def numbers(n, dtype, rng, exact):
    # Whole numbers with many equal ones, where a sort that loses one would still look sorted.
    return (whole_numbers(rng, n, 2**24, dtype) if exact else uniform(rng, n, dtype),)


def matrix(n, dtype, rng, exact):
    edge = isqrt(n)
    if edge * edge != n:
        raise ArgumentError(f"The rows are those of a square matrix; {n} is no square.")
    return (numbers(n, dtype, rng, exact)[0].reshape(edge, edge),)


def queries_and_keys(n, dtype, rng, exact):
    def draw(size):
        return whole_numbers(rng, size, 2**16, dtype) if exact else uniform(rng, size, dtype)

    return draw(n), np.sort(draw(N_KEYS))


def indices(n, dtype):
    return (n,), np.dtype(np.int64)


# What any sort must move. A real one passes over the data several times, so that its share of the ceiling
# says how many passes it is worth.
moved = {"traffic": per_element(reads=1, writes=1)}
# Each index has eight bytes, twice as many as a number.
ordered = {"traffic": per_element(reads=1, writes=2)}


def search_traffic(n, dtype):
    """Count unique bytes: each number read once, one 8-byte place written, and the keys that are met."""
    # A search among a million keys meets twenty of them.
    return Traffic((n + min(20 * n, N_KEYS)) * np.dtype(dtype).itemsize, 8 * n)


sort = Study(
    name="sort",
    title="Sorting random numbers",
    sizes=(10**3, 10**4, 10**5, 10**6, 4096**2, 10**8),
    inputs=numbers,
    input_note=INPUT_NOTE,
    check=SortedCheck(),
    answer=np.sort,
    baseline="numpy",
    variants=(
        cpu(numpy, "NumPy, one thread", allocates=True, up_to=SHORT),
        cpu(numpy_threads, "NumPy, all threads", "all", up_to=SHORT),
        gpu(cupy, "CuPy", allocates=True, **moved),
        gpu(cupy_in_place, "CuPy in place", mutates=True, **moved),
        end_to_end(with_copies, "CuPy, pageable copies", up_to=SHORT),
        end_to_end(with_copies_pinned, "CuPy, pinned copies", arrays="pinned", up_to=SHORT),
    ),
)

rows = Study(
    name="rows",
    title="Sorting each row of a matrix",
    sizes=(4096**2,),
    inputs=matrix,
    input_note=f"a square matrix: {INPUT_NOTE}",
    check=SortedCheck(),
    answer=rows_numpy,
    small=(0, 1, 31**2, 32**2, 33**2),
    baseline="rows_numpy_threads",
    variants=(
        cpu(rows_numpy, "NumPy, one thread", allocates=True),
        cpu(rows_numpy_threads, "NumPy, all threads", "all"),
        gpu(rows_cupy, "CuPy, axis=1", allocates=True, **moved),
        gpu(rows_packed, "CuPy, packed and flat", allocates=True, **moved),
    ),
)

argsort = Study(
    name="argsort",
    title="The order that sorts random numbers",
    sizes=(10**6,),
    inputs=numbers,
    input_note=INPUT_NOTE,
    check=ArgsortCheck(),
    answer=np.argsort,
    output=indices,
    baseline="argsort_numpy",
    variants=(
        cpu(argsort_numpy, "NumPy, one thread", allocates=True),
        gpu(argsort_cupy, "CuPy", allocates=True, **ordered),
    ),
)

search = Study(
    name="search",
    title="The places of random numbers among a million sorted ones",
    sizes=(10**6,),
    size_name="searches",
    inputs=queries_and_keys,
    input_note="uniform random numbers; whole numbers with many equal ones for the exact check",
    check=SearchCheck(),
    answer=search_numpy,
    output=indices,
    baseline="search_numpy_threads",
    variants=(
        cpu(search_numpy, "NumPy, one thread", allocates=True),
        cpu(search_numpy_threads, "NumPy, all threads", "all"),
        gpu(search_cupy, "CuPy", allocates=True, traffic=search_traffic),
    ),
)
