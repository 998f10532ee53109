"""Kernels that look words up in a sorted dictionary."""

import numpy as np
from numba import cuda

BUCKET_BITS = 6
N_SAMPLES = 1023  # the keys that the first ten steps of a search can meet


@cuda.jit
def lookup_branching_kernel(queries, keys, words, out):
    """Each thread searches for one query and leaves the loop when it has met the key."""
    i = cuda.grid(1)
    if i >= queries.size:
        return
    query = queries[i]
    out[i] = 0
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) >> 1
        key = keys[middle]
        if key == query:
            out[i] = words[middle]
            break
        if key < query:
            low = middle + 1
        else:
            high = middle


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
def lookup_branchless_kernel(queries, keys, words, top_step, out):
    """Each thread takes the same number of steps and never leaves early."""
    i = cuda.grid(1)
    if i >= queries.size:
        return
    query = queries[i]
    place = 0
    step = top_step
    while step > 0:
        place = step_forward(keys, query, place, step)
        step >>= 1
    out[i] = word_at(keys, words, query, place)


@cuda.jit
def lookup_four_per_thread_kernel(queries, keys, words, top_step, out):
    """Each thread walks four searches in step, so that four loads are under way at once."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    last = queries.size - 1  # threads past the end repeat the last query and write nothing
    query_a, query_b = queries[min(i, last)], queries[min(i + width, last)]
    query_c, query_d = queries[min(i + 2 * width, last)], queries[min(i + 3 * width, last)]
    a = b = c = d = 0
    step = top_step
    while step > 0:
        a = step_forward(keys, query_a, a, step)
        b = step_forward(keys, query_b, b, step)
        c = step_forward(keys, query_c, c, step)
        d = step_forward(keys, query_d, d, step)
        step >>= 1
    if i <= last:
        out[i] = word_at(keys, words, query_a, a)
    if i + width <= last:
        out[i + width] = word_at(keys, words, query_b, b)
    if i + 2 * width <= last:
        out[i + 2 * width] = word_at(keys, words, query_c, c)
    if i + 3 * width <= last:
        out[i + 3 * width] = word_at(keys, words, query_d, d)


@cuda.jit
def lookup_shared_top_kernel(queries, keys, words, fine_step, out):
    """Each block copies the first ten steps' keys to shared memory, then answers queries."""
    samples = cuda.shared.array(N_SAMPLES, np.int32)
    for k in range(cuda.threadIdx.x, N_SAMPLES, cuda.blockDim.x):
        samples[k] = keys[min((k + 1) * fine_step, keys.size) - 1]
    cuda.syncthreads()  # no thread searches before all samples are there
    for i in range(cuda.grid(1), queries.size, cuda.gridsize(1)):
        query = queries[i]
        place = 0
        step = 512
        while step > 0:
            place = step_forward(samples, query, place, step)
            step >>= 1
        place = min(place * fine_step, keys.size)
        step = fine_step >> 1
        while step > 0:
            place = step_forward(keys, query, place, step)
            step >>= 1
        out[i] = word_at(keys, words, query, place)


@cuda.jit
def lookup_bucket_kernel(queries, keys, words, starts, out):
    """Each thread reads where its query's bucket begins and ends, and searches only there."""
    i = cuda.grid(1)
    if i >= queries.size:
        return
    query = queries[i]
    out[i] = 0
    bucket = query >> BUCKET_BITS
    if bucket < 0 or bucket >= starts.size - 1:
        return
    low, high = starts[bucket], starts[bucket + 1]
    while low < high:
        middle = (low + high) >> 1
        key = keys[middle]
        if key == query:
            out[i] = words[middle]
            break
        if key < query:
            low = middle + 1
        else:
            high = middle
