"""
Primes
======

How far can a GPU take the search for primes, and what does it need for that?
"""
# %%
# This GPU finds all primes below a billion in :measured:`primes[segmented, 10**9].time`, and counts them. A
# loop in Python needs :measured:`primes[python, 10**4].time` to get to ten thousand. From one to the other it
# takes nine steps, and some of the largest are ideas that have nothing to do with a GPU.

# %%
# .. rst-class:: part-idea
#
# Cross off instead of dividing
# -----------------------------
#
# Whether a number is prime can be found out by dividing it: by 2, by 3, and so on. That is
# :term:`trial division`. Every number is a question of its own, so a GPU can give each a :term:`thread`.
#
# The :term:`sieve of Eratosthenes` turns this round. It does not ask a number for its divisors. It takes a
# divisor and walks over its multiples, crossing each off. No division is left, only steps and marks.
#
# Steps are cheap, but they go far. A large sieve touches memory all over, again and again. So it is cut into
# segments that fit into a small, fast memory. On a GPU that is the :term:`shared memory` of a :term:`block`,
# and the blocks sieve their segments side by side.
#
# .. drawing:: primes
#
#     The odd numbers from 1 to 49 in a row. Below them, steps of 3, 5 and 7 cross off their multiples, each
#     from its square on. A dashed line cuts the row into two segments, one for block 0 and one for block 1.

# %%
# .. rst-class:: part-bare
#
# A thread for each number
# ------------------------
#
# The :term:`kernel` below is the inner loop of a workshop held in 2022. The outer loop over the numbers is
# gone: it has become the :term:`grid`. A number that has no divisor from 2 up to its half is a prime, except
# for 0 and 1, which have no such divisor either and are none.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def find_primes(is_prime):
    number = cuda.grid(1)
    if number < is_prime.size:
        prime = number > 1
        for j in range(2, number // 2 + 1):
            if number % j == 0:
                prime = False
                break
        is_prime[number] = prime


is_prime = cp.zeros(10_000, dtype=cp.bool_)
threads_per_block = 64
blocks_per_grid = (is_prime.size + threads_per_block - 1) // threads_per_block
find_primes[blocks_per_grid, threads_per_block](is_prime)
by_numpy = [n for n in range(2, 30) if (n % np.arange(2, n)).all()]
print("grid: ", blocks_per_grid, "blocks of", threads_per_block, "threads")
print("GPU:  ", cp.flatnonzero(is_prime)[:10], "...", int(is_prime.sum()), "primes")
print("NumPy:", np.array(by_numpy))

# %%
# .. rst-class:: part-predict
#
# How many marks does a billion take?
# -----------------------------------
#
# Even numbers can be left out, so there are half a billion candidates. A step of length p crosses off one
# candidate in p. Only primes up to the square root of a billion are needed as steps. Those from 3 to 23 come
# around so often that their pattern can be prepared. And longer steps can skip the multiples of 3, a third of
# their marks.
#
# What remains are the marks that threads must set. A multiprocessor sets at most 32 in a clock cycle, one in
# each :term:`memory bank` of its shared memory. That gives a time below which this method cannot get. Another
# one is the time in which the memory of the :term:`device` takes up the answer, a bit for each candidate.

import gpuguide as gg
from gpuguide.topics.primes.bits import small_primes

gpu = gg.require_gpu()
steps = small_primes(31_623)
steps = steps[steps > 23]
marks = sum(10**9 / (2 * p) * 2 / 3 for p in steps.tolist())
marks_a_second = 32 * gpu.sm_count * gpu.sm_clock_hz
predicted = gg.fact(
    "predicted",
    marks / marks_a_second,
    unit="s",
    note="marks / 32 a cycle and multiprocessor",
)
written = gg.fact(
    "written",
    10**9 / 16 / gpu.peak_memory_bandwidth,
    unit="s",
    note="bytes / physical peak",
)
print(f"{len(steps):,} steps from 29 on, {marks:,.0f} marks")
print(f"at least {predicted.value * 1e6:.0f} us to set them")
print(f"at least {written.value * 1e6:.0f} us to store the bits")

# %%
# .. rst-class:: part-code
#
# Ten ways, from a loop to a sieve in segments
# --------------------------------------------
#
# All ways give the same answer: an array of 32-bit words with a bit for each odd number, and after them the
# number of primes. **Python** and **njit** are the workshop's loops, interpreted and compiled.
#
# .. kernel:: gpuguide.topics.primes.kernels_cpu
#    :names: find_primes, compiled_find_primes
#
# Each is called once before it is timed, so that compilation is over when the clock starts.
#
# .. kernel:: gpuguide.topics.primes.trial
#    :names: primes_python, primes_njit
#
# **A launch a number** is the workshop's first step to the GPU: a :term:`launch` with one thread for each
# number, the result fetched before the next. It is wrong on purpose, and its figure comes further down.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: check_prime_kernel
#
# .. kernel:: gpuguide.topics.primes.trial
#    :names: primes_one_launch
#
# **Ufunc** is its second step. The loop over all numbers goes into a :term:`ufunc` that is compiled for the
# GPU. The :term:`host` picks the primes out of what comes back.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: check_prime, check_prime_ufunc
#
# .. kernel:: gpuguide.topics.primes.trial
#    :names: primes_ufunc
#
# **A thread a number** is the same without the copies. A thread that finds a prime sets its bit by an
# :term:`atomic operation`, because 32 numbers share a word.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: note_prime, thread_a_number_kernel
#
# .. kernel:: gpuguide.topics.primes.trial
#    :names: clear_and_launch, primes_thread_a_number
#
# **Odd candidates** leaves out even numbers and even divisors. That saves half of the threads and half of
# the divisions of each.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: odd_candidates_kernel
#
# .. kernel:: gpuguide.topics.primes.trial
#    :names: primes_odd_candidates
#
# **To the square root** stops earlier. A divisor above the square root has a partner below it.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: to_square_root_kernel
#
# .. kernel:: gpuguide.topics.primes.trial
#    :names: primes_to_square_root
#
# **Sieve in global memory** crosses off. Each step has a row of blocks, which share its multiples. All rows
# write to the same bits in :term:`global memory`, so each mark is atomic.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: all_odd_kernel, cross_off_kernel, count_kernel
#
# .. kernel:: gpuguide.topics.primes.sieve
#    :names: count, primes_sieve_global
#
# **Sieve in shared memory** gives a block a segment. It crosses off in bytes: two threads that mark the same
# number write the same 1, and no atomic operation is needed. Short steps are walked by all threads together,
# and each long one by a thread alone.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: first_multiple, packed_word, segment_kernel
#
# .. kernel:: gpuguide.topics.primes.sieve
#    :names: primes_sieve_shared

# %%
# .. rst-class:: part-code
#
# The **segmented sieve** is the last rung, in CUDA C++ because it needs most of a multiprocessor's shared
# memory. It is one launch with a block on each :term:`multiprocessor`. First come the tables that it keeps
# beside the segment, with the patterns of the steps from 3 to 23.
#
# .. kernel:: gpuguide.topics.primes.kernels_segmented
#    :names: TABLES
#
# Every block finds the primes up to the square root for itself. That is quicker than a launch of its own
# whose result all blocks would have to fetch. To list them in order, each thread must know how many the
# threads before it have found.
#
# .. kernel:: gpuguide.topics.primes.kernels_segmented
#    :names: SUM_BEFORE, BASE_PRIMES
#
# A block keeps its share of the numbers to itself and goes through it from segment to segment. So where a
# step begins is worked out once, and from then on carried over.
#
# .. kernel:: gpuguide.topics.primes.kernels_segmented
#    :names: FIRST_MULTIPLES
#
# This is the heart. The 32 threads of a :term:`warp`, its lanes, share a step. They are sent to places so far
# apart that each writes to a bank of its own.
#
# .. kernel:: gpuguide.topics.primes.kernels_segmented
#    :names: CROSS_OFF
#
# A warp takes a short step, or 32 long ones, and then the next that nobody has taken. So no warp is left with
# all the long walks.
#
# .. kernel:: gpuguide.topics.primes.kernels_segmented
#    :names: JOBS
#
# At the end of a segment the bytes become bits, the patterns are added, and the bits are counted and stored.
#
# .. kernel:: gpuguide.topics.primes.kernels_segmented
#    :names: STORE, SEGMENTED
#
# The launcher makes shares and segments of equal length, so that no block finishes late.
#
# .. kernel:: gpuguide.topics.primes.segmented
#    :names: segment_plan, primes_segmented
#
# Three complete the picture. **Segmented, pageable copy** brings the answer to the host; **segmented, pinned
# copy** does so into :term:`pinned memory`.
#
# .. kernel:: gpuguide.topics.primes.study
#    :names: primes_with_copy
#
# The **CPU sieve** is the same idea on all CPU threads, with segments that fit into the cache of a core.
#
# .. kernel:: gpuguide.topics.primes.kernels_cpu
#    :names: sieve_words, sieve_parallel
#
# .. kernel:: gpuguide.topics.primes.cpu
#    :names: primes_cpu

# %%
# .. rst-class:: part-check
#
# Every bit, and three published counts
# -------------------------------------
#
# Each answer is compared bit for bit with that of a sieve made of array slices. That one in turn must count
# 1229 primes below ten thousand, 78 498 below a million and 50 847 534 below a billion.

from gpuguide.topics.primes import study as primes

study = primes.study()
study

# %%
# .. rst-class:: part-measure
#
# Each as far as it gets
# ----------------------
#
# Each way goes as far as it can in reasonable time; the table says why one stops. Four sentences about the
# ladder are checked.

results = study.run()

# %%

# draw
gg.claim(results, "njit", faster_than="one_launch", at=10**4)
gg.claim(results, "to_square_root", faster_than="odd_candidates", at=10**6)
gg.claim(results, "sieve_shared", faster_than="sieve_global", at=10**9)
gg.claim(results, "with_copy", faster_than="cpu_sieve", at=10**9)

# %%
# .. checks:: primes
#
# The first chart has the ways that divide, and the last rung for comparison.

# draw
ax = gg.plot_time(
    results,
    variants=[
        "python",
        "njit",
        "one_launch",
        "thread_a_number",
        "odd_candidates",
        "to_square_root",
        "segmented",
    ],
)
for name in ax.texts:
    if name.get_text() == "Python":  # on the right, the next line would cross it
        name.set(position=(-9, 4), ha="right")

# %%
# .. finding::
#
#    Below ten thousand a launch a number takes :measured:`primes[one_launch, 10**4].time`, the compiled loop
#    :measured:`primes[njit, 10**4].time`, and a thread a number
#    :measured:`primes[thread_a_number, 10**4].time`.
#
# The second chart has the sieves. The band shows where the GPU overtakes the CPU if the answer is wanted on
# the host, in pinned memory.

# draw
gg.plot_time(
    results,
    variants=[
        "sieve_global",
        "sieve_shared",
        "segmented",
        "with_copy_pinned",
        "cpu_sieve",
    ],
    crossover=("cpu_sieve", "with_copy_pinned"),
)

# %%
# .. finding::
#
#    A billion numbers take :measured:`primes[sieve_global, 10**9].time` in global memory,
#    :measured:`primes[sieve_shared, 10**9].time` in shared memory and
#    :measured:`primes[segmented, 10**9].time` in the segmented sieve.
#
# .. results:: primes

# %%
# The best known sieve for CPUs is the library primesieve. It does not keep a list: it counts. So it is
# compared with the GPU where only the count is asked for.

counts = primes.count_study().run()

# %%
# .. checks:: count
#
# .. results:: count

# %%
# .. rst-class:: part-reading
#
# Better questions, then better memory
# ------------------------------------
#
# Up to a million, the workshop's ufunc takes :measured:`primes[ufunc, 10**6].time`. Without the copies the
# same divisions take :measured:`primes[thread_a_number, 10**6].time`. Leaving out even numbers gives
# :measured:`primes[odd_candidates, 10**6].speedup(thread_a_number)`, and the square root another
# :measured:`primes[to_square_root, 10**6].speedup(odd_candidates)`. Both ask the GPU for less.
#
# The sieve asks less again. At ten million the one in global memory is
# :measured:`primes[sieve_global, 10**7].speedup(to_square_root)` as fast as dividing up to the root. From
# here on it is memory that counts. At a billion, shared memory gives
# :measured:`primes[sieve_shared, 10**9].speedup(sieve_global)`, and the segmented sieve
# :measured:`primes[segmented, 10**9].speedup(sieve_shared)` on top: larger segments, prepared patterns, only
# primes as steps, and lanes that do not get into each other's way.
#
# .. list-table:: All primes below a billion
#    :header-rows: 1
#
#    * - predicted, 32 marks a cycle
#      - measured
#    * - :measured:`predicted`
#      - :measured:`primes[segmented, 10**9].time`
#
# The prediction is for short steps, whose lanes all write at once. A long step has a lane of its own. We
# think that there 32 steps of different length meet in the same banks by chance, and have to wait for each
# other. Besides, there are bytes to be packed into bits, and blocks that start with finding their primes.
# Storing the bits is little of it: the memory could do it in :measured:`written`.
#
# For a million, :measured:`primes[segmented, 10**6].time` are mostly that start: the tables, and the primes
# up to a thousand. That is the time in a :term:`CUDA graph`. Asked for one by one from Python, a launch takes
# :measured:`primes[segmented, 10**6].launch`.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: a launch for each number
# ------------------------------------------
#
# The workshop measured :claimed:`s2_primes_hybrid` for ten thousand numbers with a launch each, and drew the
# right conclusion: a GPU pays only with thousands of threads at the same time. Where does the time go?

# wrong: one thread works, thousands wait, and so does the host
from gpuguide.topics.primes.launch_parts import time_launch_a_number

facts = {}
for name, samples in time_launch_a_number().items():
    key = "number_" + name.replace(" ", "_")
    facts[key] = gg.fact(key, float(np.median(samples)), unit="s", samples=samples)
    print(f"{name:10} {facts[key].value * 1e6:7.1f} us a number")

# %%

# draw
names = ("copy_there", "launch", "work", "copy_back")
parts = [facts[f"number_{name}"].value for name in names]
_ = gg.explained("number_explained", parts, facts["number_whole"].value)

# %%
# Two bars for one number, and one for all numbers below ten thousand in a single launch:

# draw
there_and_back = (facts["number_copy_there"], facts["number_copy_back"])
gg.plot_decomposition(
    {
        "a number, as a whole": {"whole": facts["number_whole"].value},
        "a number, in parts": {
            "launch": facts["number_launch"].value,
            "work": facts["number_work"].value,
            "copies": sum(copy.value for copy in there_and_back),
        },
        "10 000 numbers, one launch": {
            "launch": results.quantity("thread_a_number", 10**4, "launch").value,
            "work": results.quantity("thread_a_number", 10**4, "time").value,
        },
    }
)

# %%
# .. finding::
#
#    A number costs :measured:`number_whole`, of which the kernel and the wait for it are
#    :measured:`number_work`. Timed apart, the parts add up to about the whole. In the study, timed at another
#    moment, ten thousand numbers take :measured:`primes[one_launch, 10**4].time`.
#
# The second slip is a small one. The workshop's ufunc lists 1 among the primes, since the loop has nothing to
# try and never finds a divisor. It is easily overlooked: all other numbers are right.

# wrong: the loop is empty for 1, so 1 is called a prime
from numba import int32, vectorize


@vectorize([int32(int32)], target="cuda")
def check_prime(number):
    for j in range(2, number // 2 + 1):
        if number % j == 0:
            return 0
    return number


nums = check_prime(np.arange(10**6, dtype=np.int32))
nums = nums[nums != 0]
print(len(nums), "numbers:", nums[:6], "...")

# %%
# The cure is a line, ``if number < 2: return 0``, as in the function further up. The lesson is worth more: a
# count that is known from elsewhere would have shown it at once. There are 78 498 primes below a million.

# %%
# .. rst-class:: part-when-not-to
#
# When the CPU has finished before
# --------------------------------
#
# For a thousand numbers the CPU sieve takes :measured:`primes[cpu_sieve, 10**3].time`. The GPU with a pinned
# copy takes :measured:`primes[with_copy_pinned, 10**3].time`, most of it for asking and fetching. The two
# cross :measured:`primes.crossover(cpu_sieve, with_copy_pinned)`.
#
# For a billion the GPU takes :measured:`primes[with_copy_pinned, 10**9].time` with a pinned copy and
# :measured:`primes[with_copy, 10**9].time` with a pageable one, and most of either is the copy. If you only
# want the count, you have it in :measured:`count[segmented_pinned, 10**9].time`.
#
# Whether a single large number is prime is another question. A sieve would have to start from 2. There are
# tests for that, and they run on the CPU.

# %%
# .. rst-class:: part-on-your-gpu
#
# Shared memory, multiprocessors, clock
# -------------------------------------
#
# We think that shared memory limits the segmented sieve. Global memory does not: its bits go there at
# :measured:`primes[segmented, 10**9].rate`, far below what that memory takes. So its time should follow the
# number of multiprocessors and their clock. Where a block has less shared memory, as on many consumer GPUs,
# the launcher makes shorter segments.
#
# ``gpuguide run primes`` measures yours. The sieve takes limits up to 2\ :sup:`30`.

# %%
# .. rst-class:: part-your-turn
#
# The workshop's challenge
# ------------------------
#
# You start from a kernel in which a single thread tests all numbers. Give each number its own.
#
# .. exercise:: primes_on_gpu
#
# .. question:: Two threads may mark the same byte at the same time. Why is that no harm here?
#
#    Both write the same 1, and nobody reads the byte before the barrier. With bits it would be different: to
#    set one, a thread has to read the other seven of a byte and write them back, and may undo a neighbour's.
#
# .. question:: Why does a step of length p begin at p times p?
#
#    Smaller multiples of p have a smaller factor, and are crossed off by that factor's step.

# %%
# .. rst-class:: part-next
#
# On to types and to divergence
# -----------------------------
#
# Onward: :doc:`Numba's types </gallery/first_kernels/numba_types>` shows what a number costs that is typed
# into a kernel. Sideways: :doc:`Divergence </gallery/first_kernels/divergence>` counts who waits when one
# thread tries more divisors than its neighbours, and
# :doc:`Compile cost </gallery/compiled_cpu/compile_cost>` times the compiler that made the loop quick. Used
# here: :func:`~gpuguide.topics.primes.segmented.primes_segmented`,
# :class:`~gpuguide.topics.primes.bits.PrimesCheck`.
