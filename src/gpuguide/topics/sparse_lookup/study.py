"""Looking up keys in a sparse dictionary of two arrays: a dict, NumPy, a loop, CuPy, and kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    cpu_variant,
    cupy_variant,
    end_to_end_variant,
    kernel_variant,
)
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.sparse_lookup.dictionary import (
    COARSE_BITS,
    FINE_BITS,
    N_KEYS,
    THREADS,
    LookupCheck,
    example_dictionary,
    lookup_cupy,
    lookup_inputs,
    lookup_numpy,
    lookup_numpy_threads,
    lookup_python_dict,
    sorted_inputs,
)
from gpuguide.topics.sparse_lookup.kernels import (
    branching,
    branchless,
    bucket,
    four_per_thread,
    shared_top,
)
from gpuguide.topics.sparse_lookup.kernels_cpu import bucket_cpu_loop

THREADS_PER_BLOCK = 256
MAX_BLOCKS = 1024
SIZES = (10, 10**3, 10**4, 10**5, 10**6, 10**7)
SHORT: dict[str, Any] = {
    "max_size": 10**6,
    "max_size_reason": "left out above 10^6 queries to keep the run short",
}


def lookup_branching(
    queries: Any, keys: Any, words: Any, coarse: Any, fine: Any, out: Any
) -> None:
    """Give each thread one query; its search stops when it meets the key."""
    n = checked_size(queries, keys, words, coarse, fine, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        branching[blocks_per_grid, THREADS_PER_BLOCK](queries, keys, words, out)


def lookup_branchless(
    queries: Any, keys: Any, words: Any, coarse: Any, fine: Any, out: Any
) -> None:
    """Give each thread one query; all searches take the same number of steps and do not branch."""
    n = checked_size(queries, keys, words, coarse, fine, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        branchless[blocks_per_grid, THREADS_PER_BLOCK](
            queries, keys, words, top_step(keys), out
        )


def lookup_four_per_thread(
    queries: Any, keys: Any, words: Any, coarse: Any, fine: Any, out: Any
) -> None:
    """Give each thread four queries, searched side by side."""
    n = checked_size(queries, keys, words, coarse, fine, out)
    if n:
        blocks_per_grid = blocks_1d(n, 4 * THREADS_PER_BLOCK)
        four_per_thread[blocks_per_grid, THREADS_PER_BLOCK](
            queries, keys, words, top_step(keys), out
        )


def lookup_shared_top(
    queries: Any, keys: Any, words: Any, coarse: Any, fine: Any, out: Any
) -> None:
    """Let the first ten steps of every search read shared memory."""
    n = checked_size(queries, keys, words, coarse, fine, out)
    if n:
        blocks_per_grid = min(blocks_1d(n, THREADS_PER_BLOCK), MAX_BLOCKS)
        # The last of the ten steps that are taken in shared memory.
        fine_step = max(top_step(keys) >> 9, 1)
        shared_top[blocks_per_grid, THREADS_PER_BLOCK](queries, keys, words, fine_step, out)


def lookup_bucket(
    queries: Any, keys: Any, words: Any, coarse: Any, fine: Any, out: Any
) -> None:
    """Give each thread one query; a table with an entry for 64 numbers says where to search."""
    n = checked_size(queries, keys, words, coarse, fine, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        bucket[blocks_per_grid, THREADS_PER_BLOCK](
            queries, keys, words, coarse, COARSE_BITS, out
        )


def lookup_bucket_of_8(
    queries: Any, keys: Any, words: Any, coarse: Any, fine: Any, out: Any
) -> None:
    """Do the same by a table with an entry for eight numbers."""
    n = checked_size(queries, keys, words, coarse, fine, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        bucket[blocks_per_grid, THREADS_PER_BLOCK](queries, keys, words, fine, FINE_BITS, out)


def look_up_with_copies(
    queries: np.ndarray,
    keys: object,
    words: object,
    coarse: object,
    fine: object,
    out: np.ndarray,
) -> None:
    """Copy the queries to the GPU, look them up in the dictionary kept there, and fetch the words."""
    found = cupy().empty(out.shape, out.dtype)
    lookup_bucket_of_8(cupy().asarray(queries), *example_dictionary().on_gpu, found)
    found.get(out=out)


def look_up_with_copies_pinned(
    queries: np.ndarray,
    keys: object,
    words: object,
    coarse: object,
    fine: object,
    out: np.ndarray,
) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    queries_device = cupy().empty(queries.shape, queries.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    stream = cupy().cuda.get_current_stream()
    queries_device.set(queries, stream=stream)
    found = cupy().empty(out.shape, out.dtype)
    lookup_bucket_of_8(queries_device, *example_dictionary().on_gpu, found)
    found.get(out=out)


def sort_first(queries: Any, keys: Any, words: Any, coarse: Any, fine: Any) -> Any:
    """Sort the queries, search for them in rising order, and put the words where they belong."""
    cp = cupy()
    order = cp.argsort(queries)
    found = cp.empty(queries.shape, cp.uint64)
    lookup_branching(queries[order], keys, words, coarse, fine, found)
    out = cp.empty_like(found)
    out[order] = found
    return out


def lookup_traffic(n: int, dtype: Any) -> Traffic:
    """Count unique bytes: queries and words once each, and of the dictionary at most all of it."""
    itemsize = np.dtype(dtype).itemsize
    # A search among a million keys meets twenty of them.
    met = itemsize * min(20 * n, N_KEYS) + 8 * min(n, N_KEYS)
    return Traffic(bytes_read=n * itemsize + met, bytes_written=8 * n)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a dict, NumPy, a loop on the CPU, CuPy and kernels."""
    moved: dict[str, Any] = {"traffic": lookup_traffic}
    return Study(
        name="lookup",
        title="Looking up keys in a sparse dictionary",
        variants=(
            cpu_variant(
                "python_dict",
                lookup_python_dict,
                "Python dict",
                **SHORT,
            ),
            cpu_variant("numpy", lookup_numpy, "NumPy, one thread", allocates=True, **SHORT),
            cpu_variant("numpy_threads", lookup_numpy_threads, "NumPy, all threads", THREADS),
            cpu_variant(
                "cpu_buckets", bucket_cpu_loop, "CPU buckets of 8, all threads", THREADS
            ),
            cupy_variant("cupy", lookup_cupy, "CuPy's searchsorted", allocates=True, **moved),
            kernel_variant("branching", lookup_branching, "textbook search", **moved),
            kernel_variant("branchless", lookup_branchless, "without branches", **moved),
            kernel_variant(
                "four_per_thread", lookup_four_per_thread, "four per thread", **moved
            ),
            kernel_variant("shared_top", lookup_shared_top, "top in shared memory", **moved),
            kernel_variant("bucket", lookup_bucket, "buckets of 64 numbers", **moved),
            kernel_variant("bucket_of_8", lookup_bucket_of_8, "buckets of 8 numbers", **moved),
            cupy_variant(
                "sort_first", sort_first, "sort, then search", allocates=True, **moved
            ),
            end_to_end_variant(
                "with_copies", look_up_with_copies, "buckets of 8, pageable copies"
            ),
            end_to_end_variant(
                "with_copies_pinned",
                look_up_with_copies_pinned,
                "buckets of 8, pinned copies",
                arrays="pinned",
            ),
        ),
        sizes=SIZES,
        inputs=lookup_inputs,
        check=LookupCheck(),
        output=lambda n, dtype: ((n,), np.dtype(np.uint64)),
        dtype="int32",
        size_name="queries",
        input_note="every second query is a key, the others are random numbers up to ten million",
        baseline="python_dict",
        kernels=kernels,
    )


def sorted_study(kernels: Kernels = None) -> Study:
    """Describe the same search with queries in rising order."""
    return Study(
        name="in_order",
        title="Looking up queries in rising order",
        variants=(
            kernel_variant(
                "branching_sorted",
                lookup_branching,
                "textbook search, sorted queries",
                traffic=lookup_traffic,
            ),
            kernel_variant(
                "branchless_sorted",
                lookup_branchless,
                "without branches, sorted queries",
                traffic=lookup_traffic,
            ),
        ),
        sizes=(10**7,),
        inputs=sorted_inputs,
        check=LookupCheck(),
        output=lambda n, dtype: ((n,), np.dtype(np.uint64)),
        dtype="int32",
        size_name="queries",
        input_note="the same queries as in the study of look-ups, sorted beforehand",
        baseline="branching_sorted",
        kernels=kernels,
    )


def checked_size(queries: Any, keys: Any, words: Any, coarse: Any, fine: Any, out: Any) -> int:
    """Check that all six arrays fit each other, and return how many queries there are."""
    n: int = launch.check(queries=queries, ndim=1, dtype="int32")
    launch.check(out=out, shape=(n,), dtype="uint64")
    n_keys = launch.check(keys=keys, ndim=1, dtype="int32")
    launch.check(words=words, shape=(n_keys,), dtype="uint64")
    launch.check(coarse=coarse, fine=fine, ndim=1, dtype="int32", same_shape=False)
    if not n_keys:
        raise ArgumentError("lookup takes at least one key; got none.")
    return n


def top_step(keys: Any) -> int:
    """Return the largest power of two that is not above the number of keys."""
    return 1 << (int(keys.size).bit_length() - 1)
