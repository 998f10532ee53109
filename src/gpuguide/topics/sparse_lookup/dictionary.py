"""A sparse dictionary as two arrays, a hash table and a table of all numbers; and look-ups on the host.

The values are strings of a fixed length of eight bytes, handled as unsigned 64-bit words.
"""

from functools import cache, cached_property

import numba
import numpy as np

from gpuguide.machine.backends import array_module
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure import cp
from gpuguide.topics.sparse_lookup.kernels import HASH_FACTOR
from gpuguide.topics.sparse_lookup.kernels_cpu import direct_loop, hash_table_loop

N_KEYS = 10**6
LARGEST_KEY = 10**7
COARSE_BITS, FINE_BITS = 6, 3  # buckets are runs of 64 numbers, and of 8
THREADS = int(numba.get_num_threads())
ALONE_BELOW = 2**13  # fewer look-ups take less time than waking the threads


class SparseDictionary:
    """Sorted keys, a string of eight characters for each, and the tables made of them."""

    def __init__(self, keys):
        self.keys = keys
        # Knuth's multiplier gives keys that lie side by side words that have little in common.
        numbers = keys.astype(np.int64) * 2_654_435_761 % 10**7
        letters = np.full((keys.size, 8), ord("v"), np.uint8)
        for place in range(7):
            letters[:, 7 - place] = ord("0") + numbers // 10**place % 10
        self.words = letters.view(np.uint64).ravel()
        self.coarse, self.fine = (
            bucket_starts(keys, bits) for bits in (COARSE_BITS, FINE_BITS)
        )

    @cached_property
    def mapping(self):
        """The same as a Python dict."""
        return dict(zip(self.keys.tolist(), self.words.tolist(), strict=True))

    @cached_property
    def hashed(self):
        """Keys and words of a hash table: each key lies at its place, or in the first free slot behind."""
        n_slots = 1 << (2 * self.keys.size - 1).bit_length()  # at most half of them are taken
        slots, slot_words = np.zeros(n_slots, np.int32), np.zeros(n_slots, np.uint64)
        at = first_slots(self.keys, n_slots)
        waiting = np.arange(self.keys.size)
        while waiting.size:
            places = at[waiting]
            is_free = slots[places] == 0
            # Of several keys that take one slot, the last one written stays there.
            slots[places[is_free]] = self.keys[waiting[is_free]]
            settled = slots[places] == self.keys[waiting]
            slot_words[places[settled]] = self.words[waiting[settled]]
            waiting = waiting[~settled]
            at[waiting] = (at[waiting] + 1) % n_slots
        return slots, slot_words

    @cached_property
    def by_number(self):
        """A word for each number up to the largest key, 0 where the number is no key."""
        words = np.zeros(int(self.keys[-1]) + 1, np.uint64)
        words[self.keys] = self.words
        return (words,)

    @cached_property
    def on_gpu(self):
        """Keys, words and the table of narrow buckets on the GPU, where they stay from call to call."""
        return tuple(map(cp.asarray, (self.keys, self.words, self.fine)))


def bucket_starts(keys, bits):
    """Return where each run of 2**bits numbers begins in the sorted keys: a table of contents."""
    n_buckets = (int(keys[-1]) >> bits) + 1
    edges = np.arange(n_buckets + 1, dtype=np.int64) << bits
    return np.searchsorted(keys, edges).astype(np.int32)


def first_slots(keys, n_slots):
    """Return at which slot of a hash table the look-up of each key begins."""
    return (keys.astype(np.int64) * HASH_FACTOR & 0xFFFFFFFF) * n_slots >> 32


@cache
def example_dictionary():
    """Make a million keys between 1 and ten million, once."""
    rng = np.random.default_rng(2022)
    return SparseDictionary(np.sort(rng.permutation(LARGEST_KEY)[:N_KEYS] + 1).astype(np.int32))


def lookup_reference(queries, keys, words, *tables):
    """Look up in a table with a place for every possible query: no search at all."""
    xp = array_module(queries)
    table = xp.zeros(LARGEST_KEY + 2, np.uint64)
    table[keys] = words
    return table[queries]


def python_dict(queries, keys, words, coarse, fine, out):
    """Ask a Python dict that exists already, once per query."""
    find = example_dictionary().mapping.get
    out[:] = [find(query, 0) for query in queries.tolist()]


def numpy(queries, keys, words, *tables):
    """Search with np.searchsorted on one thread, then take the words at the places found."""
    place = np.minimum(np.searchsorted(keys, queries), keys.size - 1)
    return np.where(keys[place] == queries, words[place], np.uint64(0))


def numpy_threads(queries, keys, words, coarse, fine, out):
    """Share the queries out among all threads, each of which searches with np.searchsorted."""
    if queries.size < ALONE_BELOW:
        out[:] = numpy(queries, keys, words)
        return
    step = max(1, -(-queries.size // THREADS))

    def one(start):
        part = slice(start, start + step)
        out[part] = numpy(queries[part], keys, words)

    list(thread_pool().map(one, range(0, queries.size, step)))


def cpu_hash_table(queries, keys, words, coarse, fine, out):
    """Share the queries out among all CPU threads; each goes from slot to slot of the hash table."""
    slots, slot_words = example_dictionary().hashed
    hash_table_loop(queries, slots, slot_words, out)


def cpu_direct(queries, keys, words, coarse, fine, out):
    """Share the queries out among all CPU threads; each reads the word at its number."""
    (table,) = example_dictionary().by_number
    direct_loop(queries, table, out)
