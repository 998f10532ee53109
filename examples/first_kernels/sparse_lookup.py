"""
A sparse dictionary
===================

How does a GPU look up keys, and what makes the search fast?
"""
# %%
# Compute where a key lies instead of searching for it. Among a million sorted keys, ten million queries take
# CuPy's search :measured:`lookup[cupy, 10**7].time`, and a textbook binary search in one kernel
# :measured:`lookup[branching, 10**7].time`, which three well-known tricks only slow down. A hash table takes
# :measured:`lookup[hash_table, 10**7].time`. If queries and words are copied, from and to pinned memory, the
# GPU needs :measured:`lookup[with_copies_pinned, 10**7].time`, and the best of the CPU, a table with a place
# for every number, :measured:`lookup[cpu_direct, 10**7].time`.
#
# .. rungs:: lookup
#    :at: 10**4, 10**6, 10**7
#    :beside: python_dict, cpu_direct, with_copies_pinned

# %%
# Two sorted arrays instead of a dict
# -----------------------------------
#
# A dictionary is *sparse* if few of the numbers in the range of its keys are keys. On a GPU it can be two
# arrays: the sorted keys, and a value for each. The values here are strings, for which CuPy has no type.
# But a string of eight bytes can travel as an unsigned 64-bit number, and be a string again on the host.
# CuPy needs no kernel of ours for the look-up. A query that is no key gets 0, an empty string.
#
# .. rung:: cupy

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
# Textbook binary search, one query per thread
# --------------------------------------------
#
# CuPy's two lines are several kernels, and what one writes the next one reads. In a kernel of your own a
# thread keeps all of it in registers. It halves the range until it meets the key, or until nothing is left.
# Among a million keys that takes at most twenty steps.
#
# .. drawing:: sparse_lookup
#
#     A row of fifteen sorted keys. Below it, thread 0 looks for 23 and thread 1 looks for 60. Bars show how
#     the range of each search halves from step to step until one key is left.
#
# .. rung:: branching
#    :counter: load_sectors_per_request

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
# For ten million queries the kernel is :measured:`lookup[branching, 10**7].speedup(cupy)` as fast as CuPy's
# lines. It stores nothing but the words, and writes
# :measured:`lookup[branching, 10**7].counter(l2_write_sectors)` sectors to the :term:`L2 cache`, where CuPy's
# kernels together write :measured:`lookup[cupy, 10**7].counter(l2_write_sectors)`.
# :evidence:`counter l2_write_sectors`

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
# Branches, latency and crowding: three suspects
# ----------------------------------------------
#
# What holds the textbook search back? Here are three suspects, and for each a kernel that removes it. All
# get ten million queries, which take the textbook search :measured:`lookup[branching, 10**7].time`.
#
# **Branches.** At every step some threads of a warp go left and others right, and a thread that has met its
# key waits for the rest. But on average :measured:`lookup[branching, 10**7].counter(active_lanes)` of its 32
# threads take part in an instruction, so there is little to gain. :evidence:`counter active_lanes` Without
# branches, all searches take the same number of steps, and a step is a comparison and a selection. This is
# :measured:`lookup[branchless, 10**7].speedup(branching)` as fast.
#
# .. kernel:: gpuguide.topics.sparse_lookup.kernels
#    :names: step_forward, word_at, branchless
#    :fold: The search without branches
#
# **Latency.** A step cannot begin before the load of the previous one has come back. Four searches in one
# thread wait together. This is :measured:`lookup[four_per_thread, 10**7].speedup(branching)` as fast.
#
# .. kernel:: gpuguide.topics.sparse_lookup.kernels
#    :names: four_per_thread
#    :fold: Four searches per thread
#
# **Crowding.** The first ten steps of all searches read the same 1023 keys. Each block can copy these into
# its shared memory. This is :measured:`lookup[shared_top, 10**7].speedup(branching)` as fast.
#
# .. kernel:: gpuguide.topics.sparse_lookup.kernels
#    :names: N_SAMPLES, shared_top
#    :fold: The top of the search in shared memory
#
# A factor below one means slower. The last two have no branches either, and compared with the first, they
# gain next to nothing: they are :measured:`lookup[four_per_thread, 10**7].speedup(branchless)` and
# :measured:`lookup[shared_top, 10**7].speedup(branchless)` as fast. So what these kernels remove is not what
# holds the search back, or removing it costs more than it saves: branches :evidence:`variant branchless`,
# waiting :evidence:`variant four_per_thread` and crowding :evidence:`variant shared_top`.

# %%
# Sorted queries: the same steps, fewer sectors
# ---------------------------------------------
#
# The fourth suspect is the scattered loads. A warp's 32 searches begin at one key and end at 32, far
# apart. There, a load of the warp touches a :term:`sector` of 32 bytes for each search, and uses four
# bytes of it. To see whether that matters, leave the kernel as it is and sort the queries beforehand.
# Neighbouring threads then look for neighbouring keys, with as many steps as before.
#
# .. list-table:: Ten million queries
#    :header-rows: 1
#
#    * - search
#      - sectors per query
#      - time
#    * - textbook, random queries
#      - :measured:`textbook_random`
#      - :measured:`lookup[branching, 10**7].time`
#    * - textbook, sorted queries
#      - :measured:`textbook_sorted`
#      - :measured:`in_order[branching_sorted, 10**7].time`
#
# .. kernel:: gpuguide.topics.sparse_lookup.sectors
#    :names: sectors_per_query
#    :fold: How sectors are counted
#
# The sectors all but vanish, and the time falls to less than half. But sorted queries also make neighbours
# branch alike. So take the kernel without branches, for which the order changes nothing but where its loads
# go. It takes :measured:`lookup[branchless, 10**7].time` with random queries, and
# :measured:`in_order[branchless_sorted, 10**7].time` with sorted ones. Most of its time is the price of
# scattered loads. :evidence:`variant branchless_sorted`
#
# But queries seldom come sorted. To sort them first, search, and put the words where they belong takes
# :measured:`lookup[sort_first, 10**7].time` in all.

# %%
# Buckets: compute the place instead of searching for it
# ------------------------------------------------------
#
# So make fewer loads. Cut the range of the keys into buckets of 64 numbers, and note in a table where the
# keys of each bucket begin. The table is made once. A search then starts with a handful of keys that lie
# next to each other.
#
# .. rung:: bucket
#    :counter: load_sectors_per_request


def bucket_starts(bits):
    edges = cp.arange((10**7 >> bits) + 2, dtype=cp.int32) << bits
    return cp.searchsorted(keys, edges).astype(cp.int32)


starts = bucket_starts(6)  # buckets of 2**6 numbers
bucket[blocks_per_grid, threads_per_block](queries, keys, words, starts, 6, found)
print(int((found != 0).sum()), "found, with", starts.size, "entries in the table")

# %%
# The table costs memory, and narrow buckets cost more of it. Of the buckets of 8 numbers most hold one key
# or none, and the search in them takes one step at most.
#
# .. rung:: bucket_of_8
#    :counter: load_sectors_per_request

starts = bucket_starts(3)
bucket[blocks_per_grid, threads_per_block](queries, keys, words, starts, 3, found)
print(int((found != 0).sum()), "found, with", starts.size, "entries in the table")

# %%
# A query touches :measured:`textbook_random` sectors in the textbook search, :measured:`of_64_random` with
# buckets of 64 numbers and :measured:`of_8_random` with buckets of 8. At 32 bytes each, both bucket searches
# get through about as many bytes per second, :measured:`touched_bucket` and :measured:`touched_bucket_of_8`.
# The textbook search gets through more, :measured:`touched_branching`, so buckets save less time than
# sectors. We think that many of its sectors come from the cache inside each multiprocessor, which answers
# sooner than the :term:`L2 cache`: the first steps of all searches read the same few keys.
# :evidence:`opinion`

# %%
# Hash table: the key itself says where it lies
# ---------------------------------------------
#
# A Python dict does not sort its keys. It is a hash table: a number computed from the key, its *hash*, says
# in which *slot* the look-up begins. Here the hash is a product, of which the upper bits are kept. If another
# key lies in the slot, go on to the next one, until you meet the key or a free slot. This is *open
# addressing* with *linear probing*. The more slots are free, the sooner a look-up ends; here more than half
# of them are.
#
# .. rung:: hash_table
#
# The GPU fills the table, too. Many threads may want the same slot, but ``cuda.atomic.cas`` compares it with
# 0 and stores the key in one go, so that only one of them finds it free. The order in which they come is left
# open, and with it which key lies in which slot; every key is found all the same.
#
# .. kernel:: gpuguide.topics.sparse_lookup.kernels
#    :names: insert

slots = cp.zeros(2**21, dtype=np.int32)
slot_words = cp.zeros(slots.size, dtype=np.uint64)
insert[(keys.size + 255) // 256, 256](keys, words, slots, slot_words)
hash_table[blocks_per_grid, threads_per_block](queries, slots, slot_words, found)
print(int((found != 0).sum()), "found, with", slots.size, "slots")

# %%
# Direct table: a place for every number
# --------------------------------------
#
# Where all keys are below ten million, the key can be the index. Nothing is searched for, and a query is one
# load. But the table has a word of eight bytes for each of ten million numbers. That is more than the L2
# cache of the GPU of these recordings holds, and most of it stands for numbers that are no keys.
#
# .. rung:: direct

table = cp.zeros(10**7 + 1, dtype=np.uint64)
table[keys] = words
direct[blocks_per_grid, threads_per_block](queries, table, found)
print(int((found != 0).sum()), "found, in a table of", table.nbytes // 10**6, "MB")

# %%
# A query touches :measured:`hashed_random` sectors in the hash table and a single one in the direct table.
# Even so, with ten million queries the hash table is
# :measured:`lookup[hash_table, 10**7].speedup(direct)` as fast as the direct table, which takes as long as
# buckets of 8. We think that this is because the arrays of the hash table fit into the L2 cache, and the
# direct table does not. :evidence:`opinion` Ten thousand queries touch only a little of it, and take
# :measured:`lookup[direct, 10**4].time` with the direct table,
# :measured:`lookup[bucket_of_8, 10**4].time` with buckets of 8 and
# :measured:`lookup[hash_table, 10**4].time` with the hash table.

# %%
# Result: where the GPU overtakes a dict
# --------------------------------------

# draw
from gpuguide.charts.marks import draw_ranges, label_ends
from gpuguide.charts.style import describe

ax = gg.plot_time(lookup, variants=["cupy", "branching", "bucket_of_8", "hash_table"])
sizes, asked = lookup.series("bucket_of_8", "launch")
grey = "#5a6370"
ax.plot(sizes, asked, "--", marker="D", color=grey)
draw_ranges(
    ax, [(size, lookup.time("bucket_of_8", size, "launch"), grey) for size in sizes]
)
label_ends(ax, [(sizes[-1], asked[-1], "launch, host time", grey)])
words = []
for name in ("cupy", "branching", "bucket_of_8", "hash_table"):
    first, last = (lookup.time(name, size) for size in (10, 10**7))
    words.append(f"{lookup.variant(name).label} from {first} to {last}")
launch = lookup.time("bucket_of_8", 10**6, "launch")
describe(
    ax,
    f"Time against queries, 10 to ten million. {'; '.join(words)}. Launching: about {launch}.",
)

# %%
# .. finding::
#
#    On the GPU's clock a table of buckets pays at every size. A million queries take
#    :measured:`lookup[branching, 10**6].time` with the textbook search,
#    :measured:`lookup[bucket_of_8, 10**6].time` with buckets of 8 and
#    :measured:`lookup[hash_table, 10**6].time` with the hash table. To launch the kernel takes Python
#    :measured:`lookup[bucket_of_8, 10**6].launch`, however many queries there are.

# draw
_ = gg.plot_time(
    lookup,
    variants=["python_dict", "cpu_buckets", "cpu_direct", "with_copies_pinned"],
    crossover=("python_dict", "with_copies_pinned"),
).set_ylim(top=10)  # room for the words about the crossover

# %%
# .. finding::
#
#    With buckets of 8, pinned copies included, the GPU overtakes a Python dict
#    :measured:`lookup.crossover(python_dict, with_copies_pinned)`. A million look-ups take the dict
#    :measured:`lookup[python_dict, 10**6].time`, and the GPU
#    :measured:`lookup[with_copies_pinned, 10**6].time`, or :measured:`lookup[with_copies, 10**6].time` with
#    pageable copies. On the CPU, a direct table on all threads is far ahead with a hundred thousand
#    queries, and keeps up with a million: :measured:`lookup[cpu_direct, 10**6].time`.
#
# The search of NumPy takes :measured:`lookup[numpy, 10**6].time` for a million queries on one thread, and
# :measured:`lookup[numpy_threads, 10**6].time` as *NumPy, all threads*. A CPU can use buckets, too:
# *CPU buckets of 8, all threads* is the same search, compiled by Numba for the CPU. It takes
# :measured:`lookup[cpu_buckets, 10**6].time`, and the GPU overtakes it
# :measured:`lookup.crossover(cpu_buckets, with_copies_pinned)`. The CPU's own hash table takes about as long.
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
#
# .. results:: lookup
#
# .. results:: in_order

# %%
# When a dict is better
# ---------------------
#
# Ten look-ups in a dict take :measured:`lookup[python_dict, 10].time`, and a round trip to the GPU takes
# :measured:`lookup[with_copies_pinned, 10].time`. And a dict simply takes a new key, while a sorted array
# has to make room for it, and a hash table with too few free slots has to be made anew.
#
# The keys and the words take twelve megabytes, and the L2 cache holds them. If a dictionary does not fit,
# loads go on to :term:`global memory`, and take longer.

# %%
# Your turn: how many are smaller?
# --------------------------------
#
# .. exercise:: count_smaller

# %%
# Next
# ----
#
# Onward: :doc:`Launch overhead </gallery/first_kernels/launch_overhead>`, on what the :term:`launch` of a
# kernel costs. Sideways: :doc:`Sort and search </gallery/cupy/sort_search>`, on making the sorted array.
