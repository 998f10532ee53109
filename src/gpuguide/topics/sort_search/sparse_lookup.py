"""Looking up keys in a sparse dictionary of two arrays: a dict, NumPy, CuPy, and five kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
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
    """Give each thread one query; its search stops when it meets the key.

    Parameters
    ----------
    queries : device array of int32, shape (n,)
        Numbers to look up.
    keys, words : device array of int32 and uint64, shape (m,)
        The dictionary, keys sorted and each once.
    starts : device array of int32
        Not used here.
    out : device array of uint64, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        A shape or dtype does not fit, or there is no key.

    Examples
    --------
    >>> none = np.empty(0, np.int32)
    >>> try:
    ...     lookup_branching(none, none, none, none, none)
    ... except ValueError as error:
    ...     print(error)
    lookup takes one-dimensional words of uint64; got shape (0,), int32.
    """
    n = checked_size(queries, keys, words, starts, out)
    if n:
        arrays = map(numba_view, (queries, keys, words, out))
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        lookup_branching_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](*arrays)


def lookup_branchless(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Give each thread one query; searches take the same steps, and select, not branch.

    Parameters
    ----------
    queries, keys, words, starts, out : device array
        As for `lookup_branching`.

    Raises
    ------
    ArgumentError
        A shape or dtype does not fit, or there is no key.

    Examples
    --------
    >>> ints, words = np.zeros(1, np.int32), np.zeros(1, np.uint64)
    >>> lookup_branchless(ints[:0], ints, words, ints, words[:0])  # no query, no launch
    """
    n = checked_size(queries, keys, words, starts, out)
    if n:
        queries, keys, words, out = map(numba_view, (queries, keys, words, out))
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        lookup_branchless_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            queries, keys, words, _top_step(keys), out
        )


def lookup_four_per_thread(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Give each thread four queries, searched side by side.

    Parameters
    ----------
    queries, keys, words, starts, out : device array
        As for `lookup_branching`.

    Raises
    ------
    ArgumentError
        A shape or dtype does not fit, or there is no key.

    Examples
    --------
    >>> ints, words = np.zeros(1, np.int32), np.zeros(1, np.uint64)
    >>> lookup_four_per_thread(ints[:0], ints, words, ints, words[:0])  # no query, no launch
    """
    n = checked_size(queries, keys, words, starts, out)
    if n:
        queries, keys, words, out = map(numba_view, (queries, keys, words, out))
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * QUERIES_PER_THREAD)
        lookup_four_per_thread_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            queries, keys, words, _top_step(keys), out
        )


def lookup_shared_top(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Let the first ten steps of every search read shared memory.

    Parameters
    ----------
    queries, keys, words, starts, out : device array
        As for `lookup_branching`.

    Raises
    ------
    ArgumentError
        A shape or dtype does not fit, or there is no key.

    Examples
    --------
    >>> ints, words = np.zeros(1, np.int32), np.zeros(1, np.uint64)
    >>> lookup_shared_top(ints[:0], ints, words, ints, words[:0])  # no query, no launch
    """
    n = checked_size(queries, keys, words, starts, out)
    if n:
        queries, keys, words, out = map(numba_view, (queries, keys, words, out))
        blocks_per_grid = min(blocks_1d(n, THREADS_PER_BLOCK), MAX_BLOCKS)
        fine_step = max(_top_step(keys) >> 9, 1)
        lookup_shared_top_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            queries, keys, words, fine_step, out
        )


def lookup_bucket(queries: Any, keys: Any, words: Any, starts: Any, out: Any) -> None:
    """Give each thread one query, and let a table say where the search begins and ends.

    Parameters
    ----------
    queries, keys, words : device array
        As for `lookup_branching`.
    starts : device array of int32
        From `bucket_starts` of the same keys.
    out : device array
        As for `lookup_branching`.

    Raises
    ------
    ArgumentError
        A shape or dtype does not fit, or there is no key.

    Examples
    --------
    >>> ints, words = np.zeros(1, np.int32), np.zeros(1, np.uint64)
    >>> lookup_bucket(ints[:0], ints, words, ints, words[:0])  # no query, no launch
    """
    n = checked_size(queries, keys, words, starts, out)
    if n:
        arrays = map(numba_view, (queries, keys, words, starts, out))
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        lookup_bucket_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](*arrays)


def lookup_traffic(n: int, dtype: Any) -> Traffic:
    """Count unique bytes: queries and words once each, and of the dictionary at most all of it.

    Parameters
    ----------
    n : int
        Number of queries.
    dtype : dtype
        Type of queries and keys.

    Returns
    -------
    Traffic
        Bytes read and written. A search meets about 20 keys and reads one word.

    Examples
    --------
    >>> lookup_traffic(10**7, "int32").bytes_total
    132000000
    """
    itemsize = np.dtype(dtype).itemsize
    met = itemsize * min(20 * n, N_KEYS) + 8 * min(n, N_KEYS)
    return Traffic(bytes_read=n * itemsize + met, bytes_written=8 * n)


def study() -> Study:
    """Describe the comparison of a dict, NumPy, CuPy and five kernels.

    Returns
    -------
    Study
        Eight variants from 10 to 10**7 queries in a dictionary of a million keys.

    Examples
    --------
    >>> [variant.name for variant in study().variants][:3]
    ['python_dict', 'numpy', 'cupy']
    """
    return Study(
        name="lookup",
        title="Looking up keys in a sparse dictionary",
        variants=(
            _on_host("python_dict", lookup_python_dict, "Python dict"),
            _on_host("numpy", lookup_numpy, "NumPy", allocates=True),
            Variant(
                "cupy",
                lookup_cupy,
                label="CuPy",
                allocates=True,
                simulatable=False,
                traffic=lookup_traffic,
            ),
            _kernel("branching", lookup_branching, "branching"),
            _kernel("branchless", lookup_branchless, "branchless"),
            _kernel("four_per_thread", lookup_four_per_thread, "four a thread"),
            _kernel("shared_top", lookup_shared_top, "shared top"),
            _kernel("bucket", lookup_bucket, "bucket"),
        ),
        sizes=SIZES,
        inputs=lookup_inputs,
        check=LookupCheck(),
        output=lambda n, dtype: ((n,), np.dtype(np.uint64)),
        dtype="int32",
        size_name="queries",
        input_note="every second query is a key, the others are random numbers up to ten million",
        baseline="python_dict",
    )


def _on_host(
    name: str, call: Callable[..., Any], label: str, *, allocates: bool = False
) -> Variant:
    return Variant(
        name, call, label=label, device="cpu", clock="host", threads=1, allocates=allocates
    )


def _kernel(name: str, call: Callable[..., None], label: str) -> Variant:
    return Variant(name, call, label=label, arrays="numba", traffic=lookup_traffic)


def _top_step(keys: Any) -> int:
    """Return the largest power of two that is not above the number of keys."""
    return 1 << (int(keys.size).bit_length() - 1)
