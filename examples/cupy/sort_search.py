"""
Sort and search
===============

From how many numbers on does sorting on the GPU pay, and can it look up keys as well?
"""
# %%
# Sorting on the GPU overtakes NumPy :measured:`sort.crossover(numpy, cupy)` if the numbers are there already
# and only the GPU's own time counts, and :measured:`sort.crossover(numpy, with_copies)` if they travel there
# and back by :term:`pageable <pageable memory>` copies. At 4096 by 4096 numbers the sort itself is
# :measured:`sort[cupy, 4096**2].speedup(numpy)` as fast as NumPy's on one thread, and
# :measured:`sort[cupy, 4096**2].speedup(numpy_threads)` as fast as on all. And the GPU can look up: it
# answers ten million queries in :measured:`lookup[bucket, 10**7].time`.

# %%
# .. rst-class:: part-idea
#
# Many questions to one sorted array
# ----------------------------------
#
# Sorting is done once, and pays later: in a sorted array anything is found by halving. Look at the number in
# the middle. If it is smaller than the one you want, go on in the right half, otherwise in the left. Among a
# million numbers that takes twenty steps.
#
# One search is a chain of steps, each of which waits for the one before. A GPU cannot speed up such a chain.
# But it can walk many chains side by side, one in each :term:`thread`.
#
# .. drawing:: sort_search
#
#     A row of fifteen sorted keys. Below it, thread 0 looks for 23 and thread 1 looks for 60. Bars show how
#     the range of each search halves from step to step until one key is left.

# %%
# .. rst-class:: part-bare
#
# NumPy's names work on the GPU
# -----------------------------
#
# CuPy has three functions under NumPy's names. ``sort`` orders the numbers. ``argsort`` gives the places from
# which they have to be taken for that. ``searchsorted`` gives the place at which a number belongs: below, 3
# is none of the keys and belongs at place 1.
#
# The data must be on the :term:`device`, and the result stays there until it is asked for. How many threads
# run, in which :term:`grid`, is CuPy's own choice.

import cupy as cp
import numpy as np

x_host = np.array([31, 8, 63, 17, 2], dtype=np.float32)
x_device = cp.asarray(x_host)
print("sort:         ", cp.sort(x_device), " NumPy:", np.sort(x_host))
print("argsort:      ", cp.argsort(x_device), " NumPy:", np.argsort(x_host))

keys = np.array([2, 5, 8, 11, 17, 23], dtype=np.int32)
queries = np.array([23, 3, 8], dtype=np.int32)
places = cp.searchsorted(cp.asarray(keys), cp.asarray(queries))
print("searchsorted: ", places, " NumPy:", np.searchsorted(keys, queries))

# %%
# .. rst-class:: part-predict
#
# How many passes does a sort take?
# ---------------------------------
#
# A ``float32`` has four bytes. A sort has to read each number and write it again, eight bytes in all. If once
# were enough, the memory would decide, and the time would be the bytes over the :term:`bandwidth`.
#
# Once is not enough. For numbers of a basic type, libraries for GPUs use a *radix sort*. It looks at a few
# bits of each number at a time, and moves all numbers in each pass. With eight bits at a time, the 32 bits of
# a ``float32`` take four passes. So a perfect radix sort would take four times that shortest time.

import gpuguide as gg

gpu = gg.require_gpu()
one_pass = 8 * 4096**2 / gpu.peak_memory_bandwidth
gg.fact(
    "predicted_sort",
    4 * one_pass,
    unit="s",
    note="four passes over 4096**2 numbers at the physical peak",
)
print(f"four passes at the physical peak: {4 * one_pass * 1e3:.3f} ms")

# %%
# .. rst-class:: part-code
#
# Six sorts and nine ways to look up
# ----------------------------------
#
# **NumPy** runs on one thread, or on all. **CuPy** makes a new array. **CuPy in place** overwrites the old
# one. **CuPy, pageable copies** starts and ends on the :term:`host`, **pinned copies** there in
# :term:`pinned memory`. Here ``cupy()`` is the module CuPy.
#
# .. kernel:: gpuguide.topics.sort_search.study
#    :names: sort_numpy, sort_cupy, sort_cupy_in_place, sort_with_copies, sort_with_copies_pinned
#
# .. kernel:: gpuguide.topics.sort_search.cpu
#    :names: sort_numpy_threads
#
# .. kernel:: gpuguide.topics.sort_search.study
#    :names: argsort_numpy, argsort_cupy
#
# Next a dictionary whose keys are *sparse*: few of the numbers in their range are keys. Can it be asked on a
# GPU? It can, as two arrays: the sorted keys, and a value for each. The values are strings, which a GPU does
# not have. Strings of a fixed length of eight bytes are unsigned 64-bit numbers to it, and become strings
# again on the host. A **Python dict**, **NumPy** and **CuPy** come first. They get the word for each query,
# or 0 for one that is no key.
#
# .. kernel:: gpuguide.topics.sort_search.sparse_dictionary
#    :names: lookup_python_dict, lookup_numpy, lookup_cupy
#
# .. kernel:: gpuguide.topics.sort_search.cpu
#    :names: lookup_numpy_threads
#
# **Branching.** The first :term:`kernel` of our own is the textbook search, one query a thread. Its threads
# part ways at every step, and a :term:`warp` walks on until the last of its 32 threads is done. How a kernel
# is started, with a grid and on arrays of CuPy, is the subject of
# :doc:`First kernel </gallery/first_kernels/first_kernel>`.
#
# .. kernel:: gpuguide.topics.sort_search.kernels
#    :names: lookup_branching_kernel
#
# .. kernel:: gpuguide.topics.sort_search.sparse_lookup
#    :names: lookup_branching
#
# What could hold it back? There are three suspects, and a kernel for each that does away with it.
#
# **Branchless.** If the branches are to blame, this one is faster: all searches take the same number of
# steps, and a step is a comparison and a selection.
#
# .. kernel:: gpuguide.topics.sort_search.kernels
#    :names: step_forward, word_at, lookup_branchless_kernel
#
# .. kernel:: gpuguide.topics.sort_search.sparse_lookup
#    :names: lookup_branchless
#
# **Four a thread.** If waiting is to blame, this one is faster: a step cannot begin before the load of the
# step before has come back, so four searches in one thread share the :term:`latency`.
#
# .. kernel:: gpuguide.topics.sort_search.kernels
#    :names: lookup_four_per_thread_kernel
#
# .. kernel:: gpuguide.topics.sort_search.sparse_lookup
#    :names: lookup_four_per_thread
#
# **Shared top.** If the crowd at the top of the search is to blame, this one is faster: the first ten steps
# of all searches meet the same 1023 keys, which each :term:`block` copies into its :term:`shared memory`.
#
# .. kernel:: gpuguide.topics.sort_search.kernels
#    :names: lookup_shared_top_kernel
#
# .. kernel:: gpuguide.topics.sort_search.sparse_lookup
#    :names: lookup_shared_top
#
# **Bucket.** The last one searches less. The range of the keys is cut into buckets of 64 numbers, and a table
# says where the keys of each bucket begin. It is made once, with ``searchsorted``.
# A search then starts with a handful of keys that lie next to each other, and touches a few places in memory
# instead of twenty.
#
# .. kernel:: gpuguide.topics.sort_search.sparse_dictionary
#    :names: bucket_starts
#
# Its kernel is the branching one, which now begins and ends where the table says.
#
# .. kernel:: gpuguide.topics.sort_search.kernels
#    :names: lookup_bucket_kernel
#
# .. kernel:: gpuguide.topics.sort_search.sparse_lookup
#    :names: lookup_bucket

# %%
# .. rst-class:: part-check
#
# How a sort is checked
# ---------------------
#
# A sorted array is right if it is in order and holds the same numbers as before. The second half needs care:
# an array of zeros is in order too. So the bits of each number are mixed into a fingerprint, and the sum of
# all fingerprints, which does not depend on the order, must not change.
#
# The times of CuPy's sorts are the GPU's own, without the launch. Those with the copies count from the call
# until the result is there.

from gpuguide.topics.sort_search import study as sort_search, sparse_lookup

study = sort_search.study()
study

# %%
# .. rst-class:: part-measure
#
# Up to a hundred million numbers
# -------------------------------
#
# Sorting first, at seven sizes. Three claims about who is ahead must hold.

results = study.run()

# %%

# draw
gg.claim(results, "cupy", faster_than="numpy", at=4096**2)
gg.claim(results, "with_copies", faster_than="numpy", at=4096**2)
gg.claim(results, "numpy", faster_than="with_copies", at=10**3)

# %%
# .. checks:: sort
#
# The grey band marks where the GPU with pageable copies overtakes NumPy on one thread.

# draw
gg.plot_time(
    results,
    variants=["numpy", "cupy", "cupy_in_place", "with_copies"],
    crossover=("numpy", "with_copies"),
)

# %%
# .. finding::
#
#    CuPy overtakes NumPy :measured:`sort.crossover(numpy, cupy)`, with pageable copies
#    :measured:`sort.crossover(numpy, with_copies)`. A hundred million numbers are sorted in
#    :measured:`sort[cupy, 10**8].time`.
#
# .. results:: sort

# %%
# Next the look-up, in a dictionary of a million keys between one and ten million, for up to ten million
# queries, and the argsort.

argsort = sort_search.argsort_study().run(sizes=(4096**2,))
lookup = sparse_lookup.study().run()

# %%

# draw
gg.claim(lookup, "branching", faster_than="python_dict", at=10**6)
gg.claim(lookup, "bucket", faster_than="branching", at=10**7)
gg.claim(lookup, "python_dict", faster_than="branching", at=10)

# %%
# .. checks:: lookup
#
# Five ways, **NumPy, all threads** among them; the table has the others. The dict ends at a million: the next
# size would take too long. The GPU's times are without the launches, except where a ring marks a point as
# :term:`host-bound`.

# draw
gg.plot_time(
    lookup,
    variants=["python_dict", "numpy_threads", "cupy", "branching", "bucket"],
    crossover=("python_dict", "branching"),
)

# %%
# .. finding::
#
#    The branching kernel overtakes the dict :measured:`lookup.crossover(python_dict, branching)`. For ten
#    million queries it takes :measured:`lookup[branching, 10**7].time`, the one with buckets
#    :measured:`lookup[bucket, 10**7].time`.
#
# .. results:: lookup
#
# .. results:: argsort

# %%
# .. rst-class:: part-reading
#
# What the times of sorting and searching say
# -------------------------------------------
#
# For 4096 by 4096 numbers a workshop of 2022 gave :claimed:`s2_sort_cpu` for NumPy, :claimed:`s2_sort_gpu`
# for CuPy, and :claimed:`s2_sort_speedup` for the ratio. Here NumPy takes
# :measured:`sort[numpy, 4096**2].time` and CuPy :measured:`sort[cupy, 4096**2].time`.
#
# What changed most is NumPy, we think because it has learned to sort with vector instructions, AVX-512 or
# AVX2, still on one thread. The ratio that is left is :measured:`sort[cupy, 4096**2].speedup(numpy)` for the
# sort alone. With the copies, and beside NumPy on all threads, it is
# :measured:`sort[with_copies, 4096**2].speedup(numpy_threads)` if they are pageable,
# :measured:`sort[with_copies_pinned, 4096**2].speedup(numpy_threads)` if they are pinned.
#
# The prediction for the GPU was four passes over the numbers:
#
# .. list-table:: Sorting 4096 by 4096 numbers
#    :header-rows: 1
#
#    * - predicted, four passes at the physical peak
#      - measured
#    * - :measured:`predicted_sort`
#      - :measured:`sort[cupy, 4096**2].time`
#
# Sorting in place takes :measured:`sort[cupy_in_place, 4096**2].time`. It spares the copy of the input that
# ``cp.sort`` makes first. Both are far from the prediction, we think because a pass of a radix sort does not
# simply copy: it sends each number to one of 256 places, and first has to count how many go where.
#
# For a hundred million numbers, each counted as read once and written once, the sort in place reaches
# :measured:`sort[cupy_in_place, 10**8].share` of the rate of a plain copy. Four perfect
# passes would reach a quarter. An argsort, in which an index travels with each number, takes
# :measured:`argsort[cupy, 4096**2].time` at 4096 by 4096 numbers.
#
# In the look-up, the Python dict needs :measured:`lookup[python_dict, 10**6].time` for a million queries,
# and NumPy on all threads :measured:`lookup[numpy_threads, 10**6].time`. The branching kernel needs
# :measured:`lookup[branching, 10**6].time`. CuPy's searchsorted takes several kernels with arrays in between:
# :measured:`lookup[cupy, 10**6].time`.
#
# Now the suspects, at ten million queries, each as a ratio to the branching kernel. Branchless:
# :measured:`lookup[branchless, 10**7].speedup(branching)`. Four a thread:
# :measured:`lookup[four_per_thread, 10**7].speedup(branching)`. Shared top:
# :measured:`lookup[shared_top, 10**7].speedup(branching)`. A number below one means slower, and all three
# are. What each of them does away with is not what holds the search back, or doing away with it costs more
# than it saves.
#
# With buckets it is :measured:`lookup[bucket, 10**7].speedup(branching)`. We think that what counts is how
# many places in memory a search touches: the keys fit into the :term:`L2 cache`, and the way to it is what
# all these threads share. Where you can compute the place to look at, do not search for it.

# %%
# The words become strings again when each is read as eight bytes. A query that is no key gives an empty one.

from gpuguide.topics.sort_search.sparse_dictionary import example_dictionary

dictionary = example_dictionary()
asked = np.array([dictionary.keys[0], dictionary.keys[-1], 10**7 + 1], dtype=np.int32)
words = cp.empty(3, dtype=cp.uint64)
arrays = (
    cp.asarray(x) for x in (asked, dictionary.keys, dictionary.words, dictionary.starts)
)
sparse_lookup.lookup_bucket(*arrays, words)
print(dict(zip(asked.tolist(), words.get().view("S8").tolist(), strict=True)))

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: the copies on the sort's account
# --------------------------------------------------
#
# "CuPy's sort is slow" is easily said after a measurement like this one. The clock is read around everything,
# and waits for the GPU as it should. For the whole job the figure is right. But it is not the figure of the
# sort.

# wrong: called the time of the sort, and mostly the time of two copies
from time import perf_counter

x_host = np.random.default_rng(0).random(4096**2, dtype=np.float32)
out_host = np.zeros_like(x_host)


def called_the_sort():
    start = perf_counter()
    cp.sort(cp.asarray(x_host)).get(out=out_host)
    return perf_counter() - start


print(f'"the sort", one reading: {called_the_sort() * 1e3:.1f} ms')

# %%
# A first reading may lie far from the next. The right way books each step on its own name. The timer is the
# one of :doc:`How to time a GPU </gallery/measuring/how_to_time>`: it waits for the GPU at both ends of a
# step. The two take turns, twenty times, because copies of ordinary memory are fast in one moment and slow in
# another. A turn is taken again when :doc:`others used the processor </method>` meanwhile. The figures are
# :term:`medians <median>`.

from gpuguide.measure.step_timer import StepTimer
from gpuguide.measure.turns import whole_turns


def both_ways():
    wrong = called_the_sort()
    timer = StepTimer(cp.cuda.Device().synchronize)
    with timer.step("copy_there"):
        x_device = cp.asarray(x_host)
    with timer.step("work"):
        sorted_device = cp.sort(x_device)
    with timer.step("copy_back"):
        sorted_device.get(out=out_host)
    return {"wrong": wrong, **timer.seconds}


facts = {}
for name, samples in whole_turns(both_ways, 20).items():
    facts[name] = gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
    print(f"{name:10} {facts[name].value * 1e3:6.2f} ms")

# %%

# draw
parts = [facts[name].value for name in ("copy_there", "work", "copy_back")]
_ = gg.explained("wrong_explained", parts, facts["wrong"].value)

# %%
# One bar for the wrong figure, one for its parts:

# draw
gg.plot_decomposition(
    {
        "called the sort": {"all": facts["wrong"]},
        "timed apart": {
            "copy there": facts["copy_there"],
            "sort": facts["work"],
            "copy back": facts["copy_back"],
        },
    }
)

# %%
# .. finding::
#
#    What was called the sort takes :measured:`wrong`. Timed apart, the pageable copies take
#    :measured:`copy_there` and :measured:`copy_back`, and the sort :measured:`work`, its launch and the
#    waiting included. The parts are from other calls than the whole, and add up to
#    :measured:`wrong_explained` of it.

# %%
# .. rst-class:: part-when-not-to
#
# When NumPy and a dict are better
# --------------------------------
#
# NumPy sorts a thousand numbers in :measured:`sort[numpy, 10**3].time`. A round trip to the GPU takes
# :measured:`sort[with_copies, 10**3].time` with pageable copies,
# :measured:`sort[with_copies_pinned, 10**3].time` with pinned ones. Numbers that start and end on the host
# should stay there below the crossing, which lies :measured:`sort.crossover(numpy, with_copies_pinned)` with
# pinned copies.
#
# Ten look-ups in a dict take :measured:`lookup[python_dict, 10].time`, where the :term:`launch` of a kernel
# alone takes :measured:`lookup[branching, 10].launch`. And a sorted array must be sorted again when a key
# comes in, while a dict just takes it.

# %%
# .. rst-class:: part-on-your-gpu
#
# Bandwidth, cache, vector instructions
# -------------------------------------
#
# A large sort moves all its numbers several times, so the bandwidth of your GPU matters, though not alone.
# The copies follow :term:`PCIe`. NumPy's side depends on whether your CPU has AVX-512 or AVX2.
#
# The look-up lives in the :term:`L2 cache`: the keys take four megabytes. On a GPU whose cache cannot hold
# them, the steps of a search wait for :term:`global memory` instead.
#
# ``gpuguide run sort_search`` measures your machine. With less memory than the line under the title names,
# the largest sizes may be left out; the table says so.

# %%
# .. rst-class:: part-your-turn
#
# Copies that nobody needs
# ------------------------
#
# The copies moved the crossing on this page. In a program they hide between the lines, where a single call
# sends an array to the GPU or fetches one. Find those that can go. The check counts them, without a GPU.
#
# .. exercise:: count_transfers
#
# .. question:: How many numbers should a bucket span?
#
#    That has to be measured. With wider buckets the table is smaller, so more of it stays in the caches near
#    the threads, and each search is longer. With narrower ones it is the other way round. Change
#    ``BUCKET_BITS`` in ``kernels.py`` and run ``gpuguide run sort_search --study lookup``.
#
# .. question:: When is it worth sorting the keys before looking anything up?
#
#    When many look-ups follow. Among unsorted keys each query has to pass all of them. Among sorted ones each
#    step halves what is left. The sort is paid for once.

# %%
# .. rst-class:: part-next
#
# More clocks, more kernels
# -------------------------
#
# Onward: :doc:`How to time a GPU </gallery/measuring/how_to_time>` explains which clock answers which
# question. Sideways: :doc:`First kernel </gallery/first_kernels/first_kernel>` starts at the beginning, if
# these kernels went by too quickly. Used here: :class:`gpuguide.Study`, :func:`gpuguide.claim`,
# :func:`gpuguide.plot_time`.
