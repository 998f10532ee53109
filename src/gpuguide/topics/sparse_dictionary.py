"""A sparse dictionary as two arrays, and what a look-up in it is held against: a dict, NumPy and CuPy.

The values are strings of a fixed length of eight bytes, handled as unsigned 64-bit words.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gpuguide.backends import array_module
from gpuguide.errors import MismatchError

N_KEYS = 10**6
LARGEST_KEY = 10**7


class SparseDictionary:
    """A million keys between 1 and ten million, each with a string of eight characters.

    Attributes
    ----------
    keys : ndarray of int32, shape (1_000_000,)
        Sorted, each once.
    words : ndarray of uint64, shape (1_000_000,)
        The strings, eight bytes each; ``words.view("S8")`` shows them.

    Examples
    --------
    >>> dictionary = sparse_dictionary()
    >>> dictionary.keys.size, dictionary.words.view("S8")[0][:1]
    (1000000, b'v')
    """

    def __init__(self) -> None:
        rng = np.random.default_rng(2022)
        self.keys = np.sort(rng.permutation(LARGEST_KEY)[:N_KEYS] + 1).astype(np.int32)
        numbers = self.keys.astype(np.int64) * 2_654_435_761 % 10**7
        letters = np.full((N_KEYS, 8), ord("v"), np.uint8)
        for place in range(7):
            letters[:, 7 - place] = ord("0") + numbers // 10**place % 10
        self.words = letters.view(np.uint64).ravel()

    @cached_property
    def mapping(self) -> dict[int, int]:
        """The same as a Python dict."""
        return dict(zip(self.keys.tolist(), self.words.tolist(), strict=True))


@lru_cache(maxsize=1)
def sparse_dictionary() -> SparseDictionary:
    """Make the dictionary of the study, once.

    Returns
    -------
    SparseDictionary
        Always the same one.

    Examples
    --------
    >>> sparse_dictionary() is sparse_dictionary()
    True
    """
    return SparseDictionary()


def lookup_reference(queries: np.ndarray, keys: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Look up in a table with a place for every possible key: no search at all.

    Parameters
    ----------
    queries : ndarray of int32, shape (n,)
        Numbers to look up.
    keys, words : ndarray of int32 and uint64, shape (m,)
        The dictionary.

    Returns
    -------
    ndarray of uint64, shape (n,)
        The word of each query, 0 where it is no key.

    Examples
    --------
    >>> lookup_reference(np.array([7, 8]), np.array([7]), np.array([42], np.uint64)).tolist()
    [42, 0]
    """
    table = np.zeros(1 + max(int(queries.max(initial=0)), int(keys.max(initial=0))), np.uint64)
    table[keys] = words
    found: np.ndarray = table[queries]
    return found


class LookupCheck:
    """The words found are exactly those of the reference.

    Examples
    --------
    >>> check = LookupCheck()
    >>> inputs = np.array([7, 8]), np.array([7]), np.array([42], np.uint64)
    >>> check.compare(np.array([42, 0], np.uint64), check.prepare(inputs))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> np.ndarray:
        """Work out the reference on the host.

        Parameters
        ----------
        inputs : tuple of three arrays
            Queries, keys, words.

        Returns
        -------
        ndarray of uint64, shape (n,)
            What should come out.
        """
        return lookup_reference(*(x.get() if hasattr(x, "get") else np.asarray(x) for x in inputs))

    def compare(self, output: Any, prepared: np.ndarray) -> tuple[float, float]:
        """Compare bit for bit.

        Parameters
        ----------
        output, prepared : array of uint64, shape (n,)
            What came out, and what should.

        Returns
        -------
        (float, float)
            Largest difference and tolerance, both 0.

        Raises
        ------
        MismatchError
            A word differs.
        """
        xp = array_module(output)
        if output.shape != prepared.shape:
            raise MismatchError(f"The output should have shape {prepared.shape}; it has {output.shape}.")
        wrong = xp.flatnonzero(output != xp.asarray(prepared))
        if wrong.size:
            i = int(wrong[0])
            raise MismatchError(
                f"{wrong.size} of {prepared.size} look-ups are wrong, the first at {i}: "
                f"expected {int(prepared[i])}, got {int(output[i])}."
            )
        return 0.0, 0.0


def lookup_python_dict(queries: np.ndarray, keys: np.ndarray, words: np.ndarray, out: np.ndarray) -> None:
    """Ask a Python dict that exists already, once a query.

    Parameters
    ----------
    queries : ndarray of int32, shape (n,)
        Numbers to look up.
    keys, words : ndarray
        The study's dictionary; the dict made of it is used instead.
    out : ndarray of uint64, shape (n,)
        Filled.
    """
    find = sparse_dictionary().mapping.get
    out[:] = [find(query, 0) for query in queries.tolist()]


def lookup_numpy(queries: np.ndarray, keys: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Search with np.searchsorted on one thread, then take the words at the places found.

    Parameters
    ----------
    queries : ndarray of int32, shape (n,)
        Numbers to look up.
    keys, words : ndarray of int32 and uint64, shape (m,)
        The dictionary, keys sorted.

    Returns
    -------
    ndarray of uint64, shape (n,)
        The word of each query, 0 where it is no key.

    Examples
    --------
    >>> lookup_numpy(np.array([7, 8]), np.array([7]), np.array([42], np.uint64)).tolist()
    [42, 0]
    """
    place = np.minimum(np.searchsorted(keys, queries), keys.size - 1)
    return np.where(keys[place] == queries, words[place], np.uint64(0))


def lookup_cupy(queries: Any, keys: Any, words: Any) -> Any:
    """Search with cp.searchsorted: several kernels, with their temporary arrays.

    Parameters
    ----------
    queries : cupy.ndarray of int32, shape (n,)
        Numbers to look up.
    keys, words : cupy.ndarray of int32 and uint64, shape (m,)
        The dictionary, keys sorted.

    Returns
    -------
    cupy.ndarray of uint64, shape (n,)
        The word of each query, 0 where it is no key.
    """
    xp = array_module(queries)
    place = xp.minimum(xp.searchsorted(keys, queries), keys.size - 1)
    return xp.where(keys[place] == queries, words[place], np.uint64(0))
