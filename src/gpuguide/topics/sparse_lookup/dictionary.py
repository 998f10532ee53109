"""A sparse dictionary as two arrays, looked up on the CPU and with CuPy, and what a look-up must find.

The values are strings of a fixed length of eight bytes, handled as unsigned 64-bit words.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numba
import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, cupy
from gpuguide.machine.cpu import thread_pool

N_KEYS = 10**6
LARGEST_KEY = 10**7
COARSE_BITS, FINE_BITS = 6, 3  # buckets are runs of 64 numbers, and of 8
THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time
ALONE_BELOW = 2**13  # fewer look-ups take less time than waking the threads


class SparseDictionary:
    """A million keys between 1 and ten million, each with a string of eight characters.

    Examples
    --------
    >>> dictionary = example_dictionary()
    >>> dictionary.keys.size, dictionary.words.view("S8")[0][:1]
    (1000000, b'v')
    """

    def __init__(self) -> None:
        rng = np.random.default_rng(2022)
        self.keys = np.sort(rng.permutation(LARGEST_KEY)[:N_KEYS] + 1).astype(np.int32)
        # Knuth's multiplier gives keys that lie side by side words that have little in common.
        numbers = self.keys.astype(np.int64) * 2_654_435_761 % 10**7
        letters = np.full((N_KEYS, 8), ord("v"), np.uint8)
        for place in range(7):
            letters[:, 7 - place] = ord("0") + numbers // 10**place % 10
        self.words = letters.view(np.uint64).ravel()
        self.coarse, self.fine = (
            bucket_starts(self.keys, bits) for bits in (COARSE_BITS, FINE_BITS)
        )

    @cached_property
    def mapping(self) -> dict[int, int]:
        """The same as a Python dict."""
        return dict(zip(self.keys.tolist(), self.words.tolist(), strict=True))

    @cached_property
    def on_gpu(self) -> tuple[Any, Any, Any, Any]:
        """Keys, words and both tables on the GPU, where they stay from call to call."""
        put = cupy().asarray
        return put(self.keys), put(self.words), put(self.coarse), put(self.fine)


def bucket_starts(keys: np.ndarray, bits: int) -> np.ndarray:
    """Find where each run of 2**bits numbers begins in the sorted keys: a table of contents.

    >>> bucket_starts(np.array([3, 64, 70, 200], np.int32), 6).tolist()
    [0, 1, 3, 3, 4]
    """
    n_buckets = (int(keys[-1]) >> bits) + 1
    edges = np.arange(n_buckets + 1, dtype=np.int64) << bits
    return np.searchsorted(keys, edges).astype(np.int32)


@lru_cache(maxsize=1)
def example_dictionary() -> SparseDictionary:
    """Make the dictionary of the study, once.

    >>> example_dictionary() is example_dictionary()
    True
    """
    return SparseDictionary()


def lookup_reference(
    queries: np.ndarray, keys: np.ndarray, words: np.ndarray, *tables: object
) -> np.ndarray:
    """Look up in a table with a place for every possible key: no search at all.

    >>> lookup_reference(np.array([7, 8]), np.array([7]), np.array([42], np.uint64)).tolist()
    [42, 0]
    """
    table = np.zeros(1 + max(int(queries.max(initial=0)), int(keys.max(initial=0))), np.uint64)
    table[keys] = words
    found: np.ndarray = table[queries]
    return found


class LookupCheck:
    """The words found are exactly those of the reference.

    >>> check = LookupCheck()
    >>> inputs = np.array([7, 8]), np.array([7]), np.array([42], np.uint64)
    >>> check.compare(np.array([42, 0], np.uint64), check.prepare(inputs))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> np.ndarray:
        """Work out the reference on the host."""
        return lookup_reference(
            *(x.get() if hasattr(x, "get") else np.asarray(x) for x in inputs[:3])
        )

    def compare(self, output: Any, prepared: np.ndarray) -> tuple[float, float]:
        """Compare bit for bit."""
        xp = array_module(output)
        if output.shape != prepared.shape:
            raise MismatchError(
                f"The output should have shape {prepared.shape}; it has {output.shape}."
            )
        wrong = xp.flatnonzero(output != xp.asarray(prepared))
        if wrong.size:
            i = int(wrong[0])
            raise MismatchError(
                f"{wrong.size} of {prepared.size} look-ups are wrong, the first at {i}: "
                f"expected {int(prepared[i])}, got {int(output[i])}."
            )
        return 0.0, 0.0


def lookup_python_dict(
    queries: np.ndarray,
    keys: np.ndarray,
    words: np.ndarray,
    coarse: np.ndarray,
    fine: np.ndarray,
    out: np.ndarray,
) -> None:
    """Ask a Python dict that exists already, once per query."""
    find = example_dictionary().mapping.get
    out[:] = [find(query, 0) for query in queries.tolist()]


def lookup_numpy(
    queries: np.ndarray, keys: np.ndarray, words: np.ndarray, *tables: object
) -> np.ndarray:
    """Search with np.searchsorted on one thread, then take the words at the places found.

    >>> lookup_numpy(np.array([7, 8]), np.array([7]), np.array([42], np.uint64)).tolist()
    [42, 0]
    """
    place = np.minimum(np.searchsorted(keys, queries), keys.size - 1)
    return np.where(keys[place] == queries, words[place], np.uint64(0))


def lookup_numpy_threads(
    queries: np.ndarray,
    keys: np.ndarray,
    words: np.ndarray,
    coarse: object,
    fine: object,
    out: np.ndarray,
) -> None:
    """Share the queries out among all threads, each of which searches with np.searchsorted."""
    if queries.size < ALONE_BELOW:
        out[:] = lookup_numpy(queries, keys, words)
        return
    step = max(1, -(-queries.size // THREADS))

    def one(start: int) -> None:
        part = slice(start, start + step)
        out[part] = lookup_numpy(queries[part], keys, words)

    list(thread_pool().map(one, range(0, queries.size, step)))


def lookup_cupy(queries: Any, keys: Any, words: Any, *tables: object) -> Any:
    """Search with cp.searchsorted: several kernels, with their temporary arrays."""
    xp = array_module(queries)
    place = xp.minimum(xp.searchsorted(keys, queries), keys.size - 1)
    return xp.where(keys[place] == queries, words[place], np.uint64(0))


def lookup_inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    """Make queries, and copy the dictionary.

    >>> queries, *_ = lookup_inputs(3, np.dtype("int32"), np.random.default_rng(0), True)
    >>> queries.tolist()
    [0, 5000000, 10000001]
    """
    dictionary = example_dictionary()
    if exact:
        queries = np.linspace(0, LARGEST_KEY + 1, n).astype(dtype)
    else:
        queries = rng.integers(1, LARGEST_KEY + 1, n, dtype=dtype)
        # Of random numbers alone only one in ten would be a key.
        queries[::2] = dictionary.keys[rng.integers(0, N_KEYS, (n + 1) // 2)]
    return (
        queries,
        # Copies, because every size gets the one dictionary that is kept.
        dictionary.keys.copy(),
        dictionary.words.copy(),
        dictionary.coarse.copy(),
        dictionary.fine.copy(),
    )


def sorted_inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    """Make the same queries, in rising order.

    >>> queries, *_ = sorted_inputs(3, np.dtype("int32"), np.random.default_rng(0), False)
    >>> bool((np.diff(queries) >= 0).all())
    True
    """
    queries, *dictionary = lookup_inputs(n, dtype, rng, exact)
    return np.sort(queries), *dictionary
