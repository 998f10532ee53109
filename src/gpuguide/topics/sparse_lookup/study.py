"""Looking up keys in a sparse dictionary: a dict, NumPy, loops, CuPy, and kernels that search or do not."""

from functools import cache

import numpy as np

from gpuguide.machine.backends import numba_view
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, kernel
from gpuguide.results.records import Traffic
from gpuguide.topics.sparse_lookup import dictionary, kernels
from gpuguide.topics.sparse_lookup.dictionary import (
    COARSE_BITS,
    FINE_BITS,
    LARGEST_KEY,
    N_KEYS,
    example_dictionary,
)
from gpuguide.topics.sparse_lookup.kernels_cpu import bucket_cpu_loop

BLOCK, MAX_BLOCKS = 256, 1024


def blocks(n):
    return -(-n // BLOCK)


def one_each(n):
    return blocks(n), BLOCK


def cupy(queries, keys, words, *tables):
    """Search with cp.searchsorted: several kernels, with their temporary arrays."""
    place = cp.minimum(cp.searchsorted(keys, queries), keys.size - 1)
    return cp.where(keys[place] == queries, words[place], np.uint64(0))


def sort_first(queries, keys, words, coarse, fine):
    """Sort the queries, search for them in rising order, and put the words where they belong."""
    order = cp.argsort(queries)
    found = cp.empty(queries.shape, cp.uint64)
    if queries.size:
        kernels.branching[blocks(queries.size), BLOCK](queries[order], keys, words, found)
    out = cp.empty_like(found)
    out[order] = found
    return out


def in_buckets(queries, found):
    """Look up in the dictionary that is kept on the GPU."""
    keys, words, fine = example_dictionary().on_gpu
    if queries.size:
        kernels.bucket[blocks(queries.size), BLOCK](
            queries, keys, words, fine, FINE_BITS, found
        )


def with_copies(queries, keys, words, coarse, fine, out):
    """Copy the queries to the GPU, look them up in the dictionary kept there, and fetch the words."""
    found = cp.empty(out.shape, out.dtype)
    in_buckets(cp.asarray(queries), found)
    found.get(out=out)


def with_copies_pinned(queries, keys, words, coarse, fine, out):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    queries_device = cp.empty(queries.shape, queries.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    queries_device.set(queries, stream=cp.cuda.get_current_stream())
    found = cp.empty(out.shape, out.dtype)
    in_buckets(queries_device, found)
    found.get(out=out)


def top_step(keys):
    """Return the largest power of two that is not above the number of keys."""
    return 1 << (int(keys.size).bit_length() - 1)


def in_table(name):
    """Return what chooses a table of the dictionary, in the memory that the queries are in."""

    @cache
    def views():
        return tuple(numba_view(cp.asarray(x)) for x in getattr(example_dictionary(), name))

    def arguments(queries, keys, words, coarse, fine, out):
        on_host = isinstance(queries, np.ndarray)
        return queries, *(getattr(example_dictionary(), name) if on_host else views()), out

    return arguments


def traffic(met, n_keys, n_words=N_KEYS):
    """Count unique bytes: queries and results, and of keys and words that are met at most all there are."""
    return lambda n, dtype: Traffic(
        4 * n + 4 * min(met * n, n_keys) + 8 * min(n, n_words), 8 * n
    )


searched = traffic(20, N_KEYS)  # steps among a million keys


def search(call, label, between=lambda keys, coarse, fine: (), grid=one_each, **options):
    """Return a kernel that takes queries, keys and words, what else it needs, and the results."""

    def arguments(queries, keys, words, coarse, fine, out):
        return queries, keys, words, *between(keys, coarse, fine), out

    return kernel(call, label, grid, arguments=arguments, traffic=searched, **options)


def first_step(keys, coarse, fine):
    return (top_step(keys),)


def inputs(n, dtype, rng, exact):
    """Make queries, and copy the dictionary, since every size gets the one that is kept."""
    own = example_dictionary()
    if exact:
        queries = np.linspace(0, LARGEST_KEY + 1, n).astype(dtype)
    else:
        queries = rng.integers(1, LARGEST_KEY + 1, n, dtype=dtype)
        # Of random numbers alone only one in ten would be a key.
        queries[::2] = own.keys[rng.integers(0, N_KEYS, (n + 1) // 2)]
    return queries, *(x.copy() for x in (own.keys, own.words, own.coarse, own.fine))


def sorted_inputs(n, dtype, rng, exact):
    """Make the same queries, in rising order."""
    queries, *tables = inputs(n, dtype, rng, exact)
    return np.sort(queries), *tables


def of_queries():
    """Return what both studies share."""
    return {
        "reference": dictionary.lookup_reference,
        "equal": True,
        "output": lambda n, dtype: ((n,), np.uint64),
        "dtype": "int32",
        "size_name": "queries",
        "small": (0, 257),
    }


lookup = Study(
    name="lookup",
    title="Looking up keys in a sparse dictionary",
    sizes=(10, 10**3, 10**4, 10**5, 10**6, 10**7),
    inputs=inputs,
    input_note="every second query is a key, the others are random numbers up to ten million",
    baseline="python_dict",
    variants=(
        cpu(dictionary.python_dict, "Python dict", up_to=10**6),
        cpu(dictionary.numpy, "NumPy, one thread", allocates=True, up_to=10**6),
        cpu(dictionary.numpy_threads, "NumPy, all threads", "all"),
        cpu(bucket_cpu_loop, "CPU buckets of 8, all threads", "all", name="cpu_buckets"),
        cpu(dictionary.cpu_hash_table, "CPU hash table, all threads", "all"),
        cpu(dictionary.cpu_direct, "CPU direct table, all threads", "all"),
        gpu(cupy, "CuPy's searchsorted", allocates=True, traffic=searched),
        search(kernels.branching, "textbook search"),
        search(kernels.branchless, "without branches", first_step),
        search(
            kernels.four_per_thread,
            "four per thread",
            first_step,
            lambda n: (-(-n // (4 * BLOCK)), BLOCK),
        ),
        search(
            kernels.shared_top,
            "top in shared memory",
            # The last of the ten steps that are taken in shared memory.
            lambda keys, coarse, fine: (max(top_step(keys) >> 9, 1),),
            lambda n: (min(blocks(n), MAX_BLOCKS), BLOCK),
        ),
        search(
            kernels.bucket,
            "buckets of 64 numbers",
            lambda keys, coarse, fine: (coarse, COARSE_BITS),
        ),
        search(
            kernels.bucket,
            "buckets of 8 numbers",
            lambda keys, coarse, fine: (fine, FINE_BITS),
            name="bucket_of_8",
            note="Do the same by a table with an entry for eight numbers.",
        ),
        kernel(
            kernels.hash_table,
            "hash table",
            one_each,
            arguments=in_table("hashed"),
            traffic=traffic(2, 2**21),
        ),
        kernel(
            kernels.direct,
            "direct table",
            one_each,
            arguments=in_table("by_number"),
            traffic=traffic(0, 0, LARGEST_KEY),
        ),
        gpu(sort_first, "sort, then search", allocates=True, traffic=searched),
        end_to_end(with_copies, "buckets of 8, pageable copies"),
        end_to_end(with_copies_pinned, "buckets of 8, pinned copies", arrays="pinned"),
    ),
    **of_queries(),
)
in_order = Study(
    name="in_order",
    title="Looking up queries in rising order",
    sizes=(10**7,),
    inputs=sorted_inputs,
    input_note="the same queries as in the study of look-ups, sorted beforehand",
    baseline="branching_sorted",
    variants=(
        search(kernels.branching, "textbook search, sorted queries", name="branching_sorted"),
        search(
            kernels.branchless,
            "without branches, sorted queries",
            first_step,
            name="branchless_sorted",
        ),
    ),
    **of_queries(),
)
