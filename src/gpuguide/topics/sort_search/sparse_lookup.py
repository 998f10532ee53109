"""Looking up keys in a sparse dictionary of two arrays: a dict, NumPy, CuPy, and five kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, cupy_variant, kernel_variant
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.sort_search.cpu import THREADS, lookup_numpy_threads
from gpuguide.topics.sort_search.kernels import (
    lookup_branching_kernel,
    lookup_branchless_kernel,
    lookup_bucket_kernel,
    lookup_four_per_thread_kernel,
    lookup_shared_top_kernel,
)
from gpuguide.topics.sort_search.sparse_dictionary import (
    N_KEYS,
    LookupCheck,
    checked_size,
    lookup_cupy,
    lookup_inputs,
    lookup_numpy,
    lookup_python_dict,
)

THREADS_PER_BLOCK = 256
QUERIES_PER_THREAD = 4
MAX_BLOCKS = 1024
SIZES = (10, 10**3, 10**4, 10**5, 10**6, 10**7)


def lookup_branching(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Give each thread one query; its search stops when it meets the key."""
    n = checked_size(queries, keys, words, starts, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        lookup_branching_kernel[blocks_per_grid, THREADS_PER_BLOCK](queries, keys, words, out)


def lookup_branchless(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Give each thread one query; searches take the same steps, and select, not branch."""
    n = checked_size(queries, keys, words, starts, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        lookup_branchless_kernel[blocks_per_grid, THREADS_PER_BLOCK](
            queries, keys, words, top_step(keys), out
        )


def lookup_four_per_thread(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Give each thread four queries, searched side by side."""
    n = checked_size(queries, keys, words, starts, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * QUERIES_PER_THREAD)
        lookup_four_per_thread_kernel[blocks_per_grid, THREADS_PER_BLOCK](
            queries, keys, words, top_step(keys), out
        )


def lookup_shared_top(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Let the first ten steps of every search read shared memory."""
    n = checked_size(queries, keys, words, starts, out)
    if n:
        blocks_per_grid = min(blocks_1d(n, THREADS_PER_BLOCK), MAX_BLOCKS)
        # The last of the ten steps that are taken in shared memory.
        fine_step = max(top_step(keys) >> 9, 1)
        lookup_shared_top_kernel[blocks_per_grid, THREADS_PER_BLOCK](
            queries, keys, words, fine_step, out
        )


def lookup_bucket(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Give each thread one query, and let a table say where the search begins and ends."""
    n = checked_size(queries, keys, words, starts, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        lookup_bucket_kernel[blocks_per_grid, THREADS_PER_BLOCK](
            queries, keys, words, starts, out
        )


def lookup_traffic(n: int, dtype: Any) -> Traffic:
    """Count unique bytes: queries and words once each, and of the dictionary at most all of it."""
    itemsize = np.dtype(dtype).itemsize
    # A search among a million keys meets twenty of them.
    met = itemsize * min(20 * n, N_KEYS) + 8 * min(n, N_KEYS)
    return Traffic(bytes_read=n * itemsize + met, bytes_written=8 * n)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a dict, NumPy, CuPy and five kernels."""
    return Study(
        name="lookup",
        title="Looking up keys in a sparse dictionary",
        variants=(
            cpu_variant("python_dict", lookup_python_dict, "Python dict"),
            cpu_variant("numpy", lookup_numpy, "NumPy, one thread", allocates=True),
            cpu_variant("numpy_threads", lookup_numpy_threads, "NumPy, all threads", THREADS),
            cupy_variant("cupy", lookup_cupy, "CuPy", allocates=True, traffic=lookup_traffic),
            kernel_variant("branching", lookup_branching, "branching", traffic=lookup_traffic),
            kernel_variant(
                "branchless", lookup_branchless, "branchless", traffic=lookup_traffic
            ),
            kernel_variant(
                "four_per_thread",
                lookup_four_per_thread,
                "four a thread",
                traffic=lookup_traffic,
            ),
            kernel_variant(
                "shared_top", lookup_shared_top, "shared top", traffic=lookup_traffic
            ),
            kernel_variant("bucket", lookup_bucket, "bucket", traffic=lookup_traffic),
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


def top_step(keys: Any) -> int:
    """Return the largest power of two that is not above the number of keys."""
    return 1 << (int(keys.size).bit_length() - 1)
