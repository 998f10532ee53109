"""
Look-ups: compute the place
===========================

How does a GPU look up millions of keys fast?
"""
# %%
# Compute where a key lies instead of searching for it. Among a million keys, a hash table on the GPU answers
# ten million queries in :measured:`lookup[hash_table, 10**7].time`, and a binary search takes
# :measured:`lookup[branching, 10**7].time`. That is for data that is on the GPU. For a few queries, stay with
# a Python dict, and if all data is on the host, try a table on the CPU first.
#
# .. headline:: The fewer places a look-up reads, the sooner it is done
#
# .. drawn:: sparse_lookup
#
#     from gpuguide.charts.shapes import plot_values
#
#     names = {
#         "cp.searchsorted": "cupy",
#         "binary search": "branching",
#         "buckets": "bucket_of_8",
#         "hash table": "hash_table",
#     }
#     times = {label: lookup.time(name, 10**7) for label, name in names.items()}
#     plot_values(times, "time of ten million look-ups on the GPU")

# %%
# Two sorted arrays instead of a dict
# -----------------------------------
#
# On a GPU, a dictionary can be two arrays: the sorted keys, and a value for each. CuPy needs no kernel of
# yours for the look-up. The values here are strings, for which CuPy has no type; but a string of eight bytes
# can travel as an unsigned 64-bit number, and be a string again on the host. A query that is no key gets 0,
# an empty string.
#
# .. rung:: cupy
#    :beside:

import cupy as cp
import numpy as np

keys_host = np.array([3, 14, 15, 92, 653], dtype=np.int32)
words_host = np.array([b"three", b"fourteen", b"fifteen", b"cable", b"end"], dtype="S8")
queries_host = np.array([15, 16, 92], dtype=np.int32)

keys, queries = cp.asarray(keys_host), cp.asarray(queries_host)
words = cp.asarray(words_host.view(np.uint64))
place = cp.minimum(cp.searchsorted(keys, queries), keys.size - 1)
found = cp.where(keys[place] == queries, words[place], np.uint64(0))
print("GPU: ", found.get().view("S8"))
mapping = dict(zip(keys_host.tolist(), words_host.tolist(), strict=True))
print("dict:", [mapping.get(query, b"") for query in queries_host.tolist()])

# %%
# .. try-it::
#
#    Replace the call of ``cp.minimum`` with its first argument, and ask for 654. Its place is 5, behind
#    the last key. NumPy would raise an ``IndexError``. CuPy starts again at the front and reads the key 3,
#    without an error.

# %%
# One kernel: a binary search per thread
# --------------------------------------
#
# CuPy's two lines are several kernels, and what one writes the next one reads. In a kernel of your own a
# thread keeps all of it in registers. It halves the range until it meets the key, or until nothing is left:
# among a million keys that takes at most twenty steps.
#
# .. drawing:: sparse_lookup
#
#     A row of fifteen sorted keys. Below it, thread 0 looks for 23 and thread 1 looks for 60. Bars show how
#     the range of each search halves from step to step until one key is left.
#
#
# .. rung:: branching
#    :beside:

from numba import cuda


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


rng = np.random.default_rng(2022)
keys_host = np.sort(rng.permutation(10**7)[: 10**6] + 1).astype(np.int32)
queries_host = rng.integers(1, 10**7 + 1, 10**6, dtype=np.int32)
queries_host[::2] = rng.choice(keys_host, 500_000)  # at least every second one is a key
keys, queries = cp.asarray(keys_host), cp.asarray(queries_host)
words = cp.asarray(keys_host.astype("S8").view(np.uint64))
found = cp.empty(queries.size, dtype=cp.uint64)

threads_per_block = 256
blocks_per_grid = (queries.size + threads_per_block - 1) // threads_per_block
branching[blocks_per_grid, threads_per_block](queries, keys, words, found)
print(queries_host[:3], "->", found[:3].get().view("S8"))
print("GPU:  ", int((found != 0).sum()), "found")
print("NumPy:", int(np.isin(queries_host, keys_host).sum()), "found")

# %%
# For ten million queries this is :measured:`lookup[branching, 10**7].speedup(cupy)` as fast as CuPy's lines.
# The kernel stores nothing but the words. :evidence:`counter l2_write_sectors`

# %%

# record: The studies: eighteen ways at six sizes, sorted queries, and the sectors that each search touches
import gpuguide as gg
from gpuguide.topics.sparse_lookup import sectors
from gpuguide.topics.sparse_lookup import study as sparse_lookup
from gpuguide.topics.sparse_lookup.dictionary import example_dictionary
from gpuguide.topics.sparse_lookup.kernels import bucket, direct, hash_table, insert

lookup = sparse_lookup.lookup.run()
in_order = sparse_lookup.in_order.run()

inputs = sparse_lookup.lookup.make_inputs(10**7, exact=False)
asked, all_keys, _, coarse, fine = inputs
some, some_sorted = asked[: 2**15], np.sort(asked)[: 2**15]
for name, per_query in (
    ("textbook_random", sectors.sectors_per_query(some, all_keys)),
    ("textbook_sorted", sectors.sectors_per_query(some_sorted, all_keys)),
    ("of_64_random", sectors.sectors_per_query(some, all_keys, coarse, 6)),
    ("of_8_random", sectors.sectors_per_query(some, all_keys, fine, 3)),
    (
        "hashed_random",
        sectors.sectors_per_probed_query(some, example_dictionary().hashed[0]),
    ),
):
    note = "sectors per query; 32 768 of ten million queries"
    gg.fact(name, round(per_query, 1), unit="1", note=note)

# %%

# draw
gg.claim(lookup, "branching", faster_than="cupy", at=10**7)
gg.claim(lookup, "bucket", faster_than="branching", at=10**7)
for n in lookup.sizes:
    gg.claim(lookup, "bucket_of_8", faster_than="branching", at=n)
tricks = ("branchless", "four_per_thread", "shared_top")
gg.claim(lookup, "branching", faster_than=(*tricks, "sort_first"), at=10**7)
gg.claim(lookup, "python_dict", faster_than="with_copies_pinned", at=10)
on_the_cpu = ("python_dict", "numpy", "numpy_threads", "cpu_buckets", "cpu_hash_table")
gg.claim(lookup, "with_copies_pinned", faster_than=on_the_cpu, at=10**6)
gg.claim(lookup, "cpu_direct", faster_than="with_copies_pinned", at=10**5, by=2)
gg.claim(lookup, "hash_table", faster_than=("bucket_of_8", "direct"), at=10**7, by=1.1)
gg.claim(lookup, "direct", faster_than=("bucket_of_8", "hash_table"), at=10**4, by=1.1)
for name, counted in (
    ("branching", "textbook_random"),
    ("bucket", "of_64_random"),
    ("bucket_of_8", "of_8_random"),
):
    touched = 32 * facts[counted].value * 10**7
    rate = touched / lookup.time(name, 10**7).value
    gg.fact(
        f"touched_{name}",
        rate,
        unit="B/s",
        note="counted sectors of 32 bytes / time on the GPU",
    )

# %%
# What costs time: loads from all over the memory
# -----------------------------------------------
#
# The 32 threads of a :term:`warp` search for keys that are far apart. The GPU fetches memory in
# :term:`sectors <sector>` of 32 bytes, so each thread touches one of its own, and uses four bytes of it. To
# see whether that matters, sort the queries beforehand: neighbouring threads then look for neighbouring keys,
# in as many steps as before.
#
# .. list-table:: Ten million queries
#    :header-rows: 1
#
#    * - binary search
#      - sectors per query
#      - time
#    * - random queries
#      - :measured:`textbook_random`
#      - :measured:`lookup[branching, 10**7].time`
#    * - sorted queries
#      - :measured:`textbook_sorted`
#      - :measured:`in_order[branching_sorted, 10**7].time`
#
# Scattered loads are most of the price. :evidence:`variant branchless_sorted` But queries seldom come sorted,
# and to sort them first takes :measured:`lookup[sort_first, 10**7].time` in all. The way out is to make fewer
# loads, as the next three ways do.
#
# .. dropdown:: Three well-known tricks that do not help
#
#    **No branches.** At every step some threads of a warp go left and others right, and a thread that has met
#    its key waits for the rest. But on average
#    :measured:`lookup[branching, 10**7].counter(active_lanes)` of its 32 threads take part in an instruction,
#    so there is little to gain. :evidence:`counter active_lanes` Without branches, all searches take the same
#    number of steps, and the kernel takes :measured:`lookup[branchless, 10**7].time`.
#    :evidence:`variant branchless`
#
#    .. kernel:: gpuguide.topics.sparse_lookup.kernels
#       :names: step_forward, word_at, branchless
#
#    **Four searches per thread.** A step cannot begin before the load of the previous one has come back. Four
#    searches in one thread wait together, and take :measured:`lookup[four_per_thread, 10**7].time`.
#    :evidence:`variant four_per_thread`
#
#    .. kernel:: gpuguide.topics.sparse_lookup.kernels
#       :names: four_per_thread
#
#    **The top in shared memory.** The first ten steps of all searches read the same 1023 keys. If each block
#    copies these into its shared memory, the kernel takes :measured:`lookup[shared_top, 10**7].time`.
#    :evidence:`variant shared_top`
#
#    .. kernel:: gpuguide.topics.sparse_lookup.kernels
#       :names: N_SAMPLES, shared_top
#
#    Sorted queries also make neighbours branch alike. So take the kernel without branches, for which the
#    order changes nothing but where its loads go: it takes
#    :measured:`in_order[branchless_sorted, 10**7].time` with sorted ones.
#
# .. kernel:: gpuguide.topics.sparse_lookup.sectors
#    :names: sectors_per_query
#    :fold: How sectors are counted

# %%
# Buckets: begin the search where the key must be
# -----------------------------------------------
#
# Cut the range of the keys into buckets of 64 numbers, and note in a table where the keys of each bucket
# begin. The table is made once. A search then starts with a handful of keys that lie next to each other.
#
# .. rung:: bucket
#    :beside:


def bucket_starts(bits):
    edges = cp.arange((10**7 >> bits) + 2, dtype=cp.int32) << bits
    return cp.searchsorted(keys, edges).astype(cp.int32)


starts = bucket_starts(6)  # buckets of 2**6 numbers
bucket[blocks_per_grid, threads_per_block](queries, keys, words, starts, 6, found)
print(int((found != 0).sum()), "found, with", starts.size, "entries in the table")

# %%
# Narrow buckets cost more memory and save more time: of the buckets of 8 numbers most hold one key or none.
#
# .. rung:: bucket_of_8
#    :beside:

starts = bucket_starts(3)
bucket[blocks_per_grid, threads_per_block](queries, keys, words, starts, 3, found)
print(int((found != 0).sum()), "found, with", starts.size, "entries in the table")

# %%
# .. dropdown:: Why buckets save less time than loads
#
#    A query touches :measured:`textbook_random` sectors in the binary search, :measured:`of_64_random` with
#    buckets of 64 numbers and :measured:`of_8_random` with buckets of 8. At 32 bytes each, both bucket
#    searches get through about as many bytes per second, :measured:`touched_bucket` and
#    :measured:`touched_bucket_of_8`. The binary search gets through more, :measured:`touched_branching`. We
#    think that many of its sectors come from the cache inside each multiprocessor, which answers sooner than
#    the :term:`L2 cache`: the first steps of all searches read the same few keys. :evidence:`opinion`

# %%
# Hash table: the key itself says where it lies
# ---------------------------------------------
#
# A Python dict does not sort its keys. It is a hash table: a number computed from the key, its *hash*, says
# in which *slot* the look-up begins. Here the hash is a product, of which the upper bits are kept. If another
# key lies in the slot, go on to the next one, until you meet the key or a free slot. Keep more than half of
# the slots free, so that a look-up soon ends.
#
# .. rung:: hash_table
#    :beside:
#
# The GPU fills the table, too. Many threads may want the same slot, but ``cuda.atomic.cas`` compares it with
# 0 and stores the key in one go, so that only one of them finds it free. The order in which they come decides
# which key lies in which slot; every key is found all the same.
#
# .. kernel:: gpuguide.topics.sparse_lookup.kernels
#    :names: insert
#    :fold: The kernel that fills the table

slots = cp.zeros(2**21, dtype=np.int32)
slot_words = cp.zeros(slots.size, dtype=np.uint64)
insert[(keys.size + 255) // 256, 256](keys, words, slots, slot_words)
hash_table[blocks_per_grid, threads_per_block](queries, slots, slot_words, found)
print(int((found != 0).sum()), "found, with", slots.size, "slots")

# %%
# Direct table: a place for every number
# --------------------------------------
#
# Where all keys are below ten million, the key can be the index, and a query is one load. But the table has a
# word of eight bytes for each of ten million numbers, more than this GPU's :term:`L2 cache` holds.
#
# .. rung:: direct
#    :beside:

table = cp.zeros(10**7 + 1, dtype=np.uint64)
table[keys] = words
direct[blocks_per_grid, threads_per_block](queries, table, found)
print(int((found != 0).sum()), "found, in a table of", table.nbytes // 10**6, "MB")

# %%
# Take the direct table for small keys and few queries. With ten thousand queries nothing is faster: it takes
# :measured:`lookup[direct, 10**4].time`, and the hash table :measured:`lookup[hash_table, 10**4].time`. With
# ten million, the hash table is ahead. We think that this is because its arrays fit into the L2 cache.
# :evidence:`opinion`

# %%
# When a dict or the CPU is better
# --------------------------------
#
# With queries and words copied, from and to :term:`pinned memory`, the GPU overtakes a Python dict
# :measured:`lookup.crossover(python_dict, with_copies_pinned)`. Ten look-ups in a dict take
# :measured:`lookup[python_dict, 10].time`, and a round trip to the GPU
# :measured:`lookup[with_copies_pinned, 10].time`.
#
# .. headline:: Copies included, a direct table on the CPU is hard to beat

# draw
_ = gg.plot_time(
    lookup,
    variants=["python_dict", "cpu_buckets", "cpu_direct", "with_copies_pinned"],
    crossover=("python_dict", "with_copies_pinned"),
).set_ylim(top=10)  # room for the words about the crossover

# %%
# If keys and queries live on the host, try the CPU first: a direct table, searched by all threads, is far
# ahead with a hundred thousand queries, and keeps up with a million,
# :measured:`lookup[cpu_direct, 10**6].time` against :measured:`lookup[with_copies_pinned, 10**6].time`. And a
# dict simply takes a new key, while a sorted array has to make room for it, and a hash table with too few
# free slots has to be made anew.
#
# .. dropdown:: All ways on the CPU, and dictionaries that are too large for the cache
#
#    A million queries take NumPy's search :measured:`lookup[numpy, 10**6].time` on one thread and
#    :measured:`lookup[numpy_threads, 10**6].time` on all, buckets of 8 compiled by Numba for the CPU
#    :measured:`lookup[cpu_buckets, 10**6].time`, and a dict :measured:`lookup[python_dict, 10**6].time`. The
#    GPU overtakes buckets :measured:`lookup.crossover(cpu_buckets, with_copies_pinned)`. With pageable copies
#    it takes :measured:`lookup[with_copies, 10**6].time`.
#
#    The keys and the words take twelve megabytes, and the L2 cache holds them. If a dictionary does not fit,
#    loads go on to :term:`global memory`, and take longer.
#
# .. kernel:: gpuguide.topics.sparse_lookup.dictionary
#    :names: python_dict, numpy, numpy_threads
#    :fold: The dict, and NumPy on one thread and on all
#
# .. kernel:: gpuguide.topics.sparse_lookup.kernels_cpu
#    :names: bucket_cpu_loop, hash_table_loop, direct_loop
#    :fold: Buckets, hash table and direct table on all CPU threads
#
# .. kernel:: gpuguide.topics.sparse_lookup.study
#    :names: in_buckets, with_copies_pinned
#    :fold: The copies, from and to pinned memory

# %%
# .. remember::
#
#    - Look up keys in a hash table, which computes their place:
#      :measured:`lookup[hash_table, 10**7].speedup(branching)` as fast as a binary search.
#    - Look up a few keys in a Python dict: a round trip to the GPU takes
#      :measured:`lookup[with_copies_pinned, 10].time`.

# %%
# Your turn: how many are smaller?
# --------------------------------
#
# .. exercise:: count_smaller

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "binary search": "branching",
    "buckets": "bucket_of_8",
    "hash table": "hash_table",
}
times = {label: lookup.time(name, 10**7) for label, name in names.items()}
_ = thumbnail.bars(times, "time of ten million look-ups")

# %%
# Next
# ----
#
# Next: :doc:`Many short kernels: launch less often </gallery/first_kernels/launch_overhead>`, on what the
# :term:`launch` of a kernel costs. See also: :doc:`Sort and search on the GPU </gallery/cupy/sort_search>`,
# on making the sorted array.
