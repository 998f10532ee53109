"""The look-ups on the CPU: plain loops whose rounds all threads share."""

import numpy as np
from numba import njit, prange

HASH_FACTOR = 2_654_435_769  # 2**32 divided by the golden ratio


@njit(parallel=True)
def bucket_cpu_loop(queries, keys, words, coarse, fine, out):
    """Share the queries out among all CPU threads; each search begins at its bucket of 8 numbers."""
    # Numba does not check indices: a shorter array would be written past its end.
    if out.shape != queries.shape or words.shape != keys.shape:
        raise ValueError("expected a word for each key, and an output for each query")
    for i in prange(queries.size):
        query, word = queries[i], np.uint64(0)
        which = query >> 3
        if 0 <= which < fine.size - 1:
            low, high = fine[which], fine[which + 1]
            while low < high:
                middle = (low + high) >> 1
                key = keys[middle]
                if key == query:
                    word = words[middle]
                    break
                if key < query:
                    low = middle + 1
                else:
                    high = middle
        out[i] = word


@njit(parallel=True)
def hash_table_loop(queries, slots, slot_words, out):
    """Share the queries out among all CPU threads; each goes from slot to slot."""
    for i in prange(queries.size):
        query = queries[i]
        at = (np.int64(query) * HASH_FACTOR & 0xFFFFFFFF) * slots.size >> 32
        key = slots[at]
        while key and key != query:  # 0 is a free slot
            at = at + 1 if at + 1 < slots.size else 0
            key = slots[at]
        out[i] = slot_words[at] if key == query else np.uint64(0)


@njit(parallel=True)
def direct_loop(queries, table, out):
    """Share the queries out among all CPU threads; each reads the word at its number."""
    for i in prange(queries.size):
        query = queries[i]
        out[i] = table[query] if 0 <= query < table.size else np.uint64(0)
