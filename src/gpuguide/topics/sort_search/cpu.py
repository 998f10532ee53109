"""Sorting and searching on all threads of the CPU, by NumPy functions that let go of Python's lock."""

import numba
import numpy as np

from gpuguide.machine.cpu import thread_pool

THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time
# Below, one thread is done sooner than all of them; a recording at a million numbers showed it.
SORTED_ALONE_BELOW, SEARCHED_ALONE_BELOW = 2**20, 2**13
SAMPLES = 256  # of each part, so that the shares differ by a few percent


def numpy_threads(x, out):
    """Let each thread sort a part, deal the parts out by value, and let each sort what it got."""
    if x.size < SORTED_ALONE_BELOW:
        out[:] = x
        out.sort()
        return
    parts = list(thread_pool().map(np.sort, np.array_split(x, THREADS)))
    sampled = np.sort(np.concatenate([part[:: max(1, part.size // SAMPLES)] for part in parts]))
    dividers = sampled[np.arange(1, THREADS) * sampled.size // THREADS]
    # Row by row the places where the values of the next thread begin.
    places = np.array([[0, *np.searchsorted(part, dividers), part.size] for part in parts])
    starts = places.sum(axis=0)

    def one(k):
        mine = out[starts[k] : starts[k + 1]]
        ends = zip(parts, places[:, k : k + 2], strict=True)
        np.concatenate([part[begin:end] for part, (begin, end) in ends], out=mine)
        mine.sort()

    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(one, range(THREADS)))


def rows_numpy_threads(x, out):
    """Share the rows out among all threads, each of which sorts its own along the axis."""

    def some(part):
        out[part] = x[part]
        out[part].sort(axis=1)

    _share_out(some, len(x), alone=x.size < SORTED_ALONE_BELOW)


def search_numpy_threads(queries, keys, out):
    """Share the numbers out among all threads, each of which searches with np.searchsorted."""

    def some(part):
        out[part] = np.searchsorted(keys, queries[part])

    _share_out(some, queries.size, alone=queries.size < SEARCHED_ALONE_BELOW)


def _share_out(some, n, *, alone):
    """Call a function for all of a range at once, or for a part of it on each thread."""
    step = max(1, n if alone else -(-n // THREADS))
    parts = [slice(at, at + step) for at in range(0, n, step)]
    list(map(some, parts) if alone else thread_pool().map(some, parts))
