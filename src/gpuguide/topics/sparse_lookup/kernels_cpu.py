"""The search in buckets on the CPU: a plain loop whose rounds all threads share."""

import numpy as np
from numba import njit, prange


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
