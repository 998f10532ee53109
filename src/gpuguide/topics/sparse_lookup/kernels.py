"""Kernels that look words up in a sorted dictionary and in tables, each as the page shows it."""

import numpy as np
from numba import cuda

N_SAMPLES = 1023  # the keys that the first ten steps of a search can meet
HASH_FACTOR = 2_654_435_769  # 2**32 divided by the golden ratio


@cuda.jit
def branching(queries, keys, words, out):
    """Each thread searches for one query, and leaves the loop when it has met the key."""
    i = cuda.grid(1)
    if i < queries.size:
        query, word = queries[i], np.uint64(0)  # a bare 0 would make word a float64
        low, high = 0, keys.size
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


@cuda.jit(device=True)
def step_forward(keys, query, place, step):
    """Move `place` on by `step`, or to the end, if all keys up to there are smaller."""
    probe = min(place + step, keys.size)
    return probe if keys[probe - 1] < query else place


@cuda.jit(device=True)
def word_at(keys, words, query, place):
    """Return the word at `place` if its key is the query, else 0."""
    if place < keys.size and keys[place] == query:
        return words[place]
    return np.uint64(0)


@cuda.jit
def branchless(queries, keys, words, top_step, out):
    """Each thread takes the same number of steps and never leaves early."""
    i = cuda.grid(1)
    if i < queries.size:
        query, place, step = queries[i], 0, top_step
        while step > 0:
            place = step_forward(keys, query, place, step)
            step >>= 1
        out[i] = word_at(keys, words, query, place)


@cuda.jit
def four_per_thread(queries, keys, words, top_step, out):
    """Each thread walks four searches in step, so that four loads are under way at once."""
    width, last = cuda.blockDim.x, queries.size - 1
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    # Past the end the last query is searched for again, and its word is written again.
    i_a, i_b = min(i, last), min(i + width, last)
    i_c, i_d = min(i + 2 * width, last), min(i + 3 * width, last)
    qa, qb, qc, qd = queries[i_a], queries[i_b], queries[i_c], queries[i_d]
    a = b = c = d = 0
    step = top_step
    while step > 0:
        a = step_forward(keys, qa, a, step)
        b = step_forward(keys, qb, b, step)
        c = step_forward(keys, qc, c, step)
        d = step_forward(keys, qd, d, step)
        step >>= 1
    out[i_a] = word_at(keys, words, qa, a)
    out[i_b] = word_at(keys, words, qb, b)
    out[i_c] = word_at(keys, words, qc, c)
    out[i_d] = word_at(keys, words, qd, d)


@cuda.jit
def shared_top(queries, keys, words, fine_step, out):
    """Each block copies the first ten steps' keys to shared memory, then answers queries."""
    samples = cuda.shared.array(N_SAMPLES, np.int32)
    for k in range(cuda.threadIdx.x, N_SAMPLES, cuda.blockDim.x):
        samples[k] = keys[min((k + 1) * fine_step, keys.size) - 1]
    cuda.syncthreads()  # no thread searches before all samples are there
    for i in range(cuda.grid(1), queries.size, cuda.gridsize(1)):
        query, place, step = queries[i], 0, 512
        while step > 0:
            place = step_forward(samples, query, place, step)
            step >>= 1
        place, step = min(place * fine_step, keys.size), fine_step >> 1
        while step > 0:
            place = step_forward(keys, query, place, step)
            step >>= 1
        out[i] = word_at(keys, words, query, place)


@cuda.jit
def bucket(queries, keys, words, starts, bits, out):
    """Each thread reads where its query's bucket begins and ends, and searches only there."""
    i = cuda.grid(1)
    if i < queries.size:
        query, word = queries[i], np.uint64(0)
        which = query >> bits
        if 0 <= which < starts.size - 1:
            low, high = starts[which], starts[which + 1]
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


@cuda.jit(device=True)
def first_slot(key, n_slots):
    """Return where the look-up of a key begins: the product scatters keys that are neighbours."""
    return (np.int64(key) * HASH_FACTOR & 0xFFFFFFFF) * n_slots >> 32


@cuda.jit
def insert(keys, words, slots, slot_words):
    """Each thread puts its key into the first free slot; of several threads only one gets it."""
    i = cuda.grid(1)
    if i < keys.size:
        at = first_slot(keys[i], slots.size)
        while cuda.atomic.cas(slots, at, 0, keys[i]) != 0:  # 0: the slot was free
            at = at + 1 if at + 1 < slots.size else 0
        slot_words[at] = words[i]


@cuda.jit
def hash_table(queries, slots, slot_words, out):
    """Each thread goes from slot to slot until it meets its query, or a free slot."""
    i = cuda.grid(1)
    if i < queries.size:
        query = queries[i]
        at = first_slot(query, slots.size)
        key = slots[at]
        while key and key != query:  # 0 is a free slot
            at = at + 1 if at + 1 < slots.size else 0
            key = slots[at]
        out[i] = slot_words[at] if key == query else np.uint64(0)


@cuda.jit
def direct(queries, table, out):
    """Each thread reads the word at its query's number; where the number is no key, that is 0."""
    i = cuda.grid(1)
    if i < queries.size:
        query = queries[i]
        out[i] = table[query] if 0 <= query < table.size else np.uint64(0)
