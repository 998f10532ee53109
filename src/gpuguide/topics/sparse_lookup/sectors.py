"""Counts on the host how many sectors of memory the warps of a search touch."""

import numpy as np

from gpuguide.topics.sparse_lookup.dictionary import first_slots

SECTOR = 32  # bytes
_WARP = 32


def sectors_per_query(queries, keys, starts=None, bits=0):
    """Walk the search of each query and count: a load of a warp counts its different sectors."""
    # Queries and results lie side by side, and are left out. `starts` is the table of buckets of 2**bits
    # numbers. The number of queries is a multiple of 32.
    n = queries.size
    low, high = np.zeros(n, np.int64), np.full(n, keys.size)
    n_sectors = 0
    if starts is not None:
        which = queries.astype(np.int64) >> bits
        inside = (which >= 0) & (which < starts.size - 1)
        which = np.where(inside, which, 0)
        low, high = (np.where(inside, starts[which + k], 0).astype(np.int64) for k in (0, 1))
        n_sectors += sum(sectors_touched(4 * (which + k), inside) for k in (0, 1))
    found, word = np.zeros(n, bool), np.zeros(n, np.int64)
    searching = low < high
    while searching.any():
        middle = (low + high) >> 1
        n_sectors += sectors_touched(4 * middle, searching)
        key = keys[np.minimum(middle, keys.size - 1)]
        hit, smaller = searching & (key == queries), searching & (key < queries)
        found, word = found | hit, np.where(hit, middle, word)
        low = np.where(smaller, middle + 1, low)
        high = np.where(searching & ~smaller & ~hit, middle, high)
        searching &= ~hit & (low < high)
    return (n_sectors + sectors_touched(8 * word, found)) / n


def sectors_per_probed_query(queries, slots):
    """Count the same for a hash table: the slots that a query meets, and the word of one that is a key."""
    at, n_sectors = first_slots(queries, slots.size), 0
    searching = np.ones(queries.size, bool)
    while searching.any():
        n_sectors += sectors_touched(4 * at, searching)
        searching &= (slots[at] != queries) & (slots[at] != 0)
        at = np.where(searching, (at + 1) % slots.size, at)
    return (n_sectors + sectors_touched(8 * at, slots[at] == queries)) / queries.size


def sectors_touched(address, active):
    """Add up the different sectors of each warp's active threads."""
    touched = np.sort(np.where(active, address // SECTOR, -1).reshape(-1, _WARP), axis=1)
    new = np.diff(touched, axis=1, prepend=-1) != 0
    return int((new & (touched >= 0)).sum())
