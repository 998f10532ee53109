"""
Primes
======

What makes a search for primes fast: more threads, less work, or better memory?
"""
# %%
# This GPU finds all primes below a billion in :measured:`primes[sieve_shared, 10**9].time`. The first kernel
# on this page takes :measured:`primes[thread_per_number, 10**6].time` for a thousandth of that range. Most of
# the gain is less work. In the end, shared memory makes the sieve
# :measured:`primes[sieve_shared, 10**9].speedup(sieve_global)` as fast.
#
# .. rungs:: primes
#    :at: 10**4, 10**6, 10**9
#    :beside: with_copy_pinned, cpu_sieve

# %%
# One thread per number
# ---------------------
#
# A number is prime if nothing from 2 to its half divides it. Each number can be tested by itself, so the loop
# over the numbers becomes the grid, and a thread keeps only the loop over the divisors.
#
# .. rung:: thread_per_number
#    :counter: active_lanes

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def thread_per_number(is_prime):
    """Test one number in each thread."""
    number = cuda.grid(1)
    if number < is_prime.size:
        prime = number > 1
        for j in range(2, number // 2 + 1):
            if number % j == 0:
                prime = False
                break
        is_prime[number] = prime


is_prime = cp.empty(10_000, dtype=cp.bool_)
threads_per_block = 64
blocks_per_grid = (is_prime.size + threads_per_block - 1) // threads_per_block
thread_per_number[blocks_per_grid, threads_per_block](is_prime)
n = np.arange(2, 30)
print("GPU:  ", cp.flatnonzero(is_prime)[:10], int(is_prime.sum()), "primes")
print("NumPy:", n[[(k % np.arange(2, k) != 0).all() for k in n]])

# %%
# .. try-it::
#
#    Replace ``number > 1`` with ``True`` and run the cell again. You get two primes more: for 0 and 1 the
#    loop is empty, so nothing rules them out. A count that you can look up, such as 1229 primes below ten
#    thousand, is the cheapest test that a kernel can have.

# %%

# record: The kernels, and the parts of one launch
import gpuguide as gg
from gpuguide.topics.primes.kernels import (
    SEGMENT,
    all_odd,
    in_32_bits,
    launch_per_number,
    odd_numbers,
    sieve_global,
    sieve_shared,
    to_square_root,
)
from gpuguide.topics.primes.launch_parts import time_launch_per_number

for name, samples in time_launch_per_number().items():
    key = "number_" + name.replace(" ", "_")
    gg.fact(key, float(np.median(samples)), unit="s", samples=samples)

# %%
# One launch per number loses to Python
# -------------------------------------
#
# The loop over the numbers could also stay in Python and launch one thread for each number. The divisions are
# the same. But for ten thousand numbers that takes :measured:`primes[launch_per_number, 10**4].time`, and
# Python without a GPU takes :measured:`primes[python, 10**4].time`.
#
# .. rung:: launch_per_number

# wrong, fold: One launch per number, and its result fetched before the next
result = cp.empty(1, dtype=cp.bool_)
primes = []
for number in range(2, 1_000):
    launch_per_number[1, 1](number, result)
    if result.get()[0]:  # waits for the kernel, then copies back
        primes.append(number)
print(len(primes), "primes")

# %%
# Waiting for the kernel is :measured:`number_work_share` of that time; the rest is launching and copying.
# If you want one thread per number and no kernel, compile the Python function as a :term:`ufunc` with
# ``@vectorize(target="cuda")``. It tests a million numbers in :measured:`primes[ufunc, 10**6].time`, copies
# included.

# %%

# fold: The same test as a ufunc
from numba import int32, vectorize


@vectorize([int32(int32)], target="cuda")
def check_prime(number):
    """Return the number if it is prime, and 0 if it is not."""
    if number < 2:
        return 0
    for j in range(2, number // 2 + 1):
        if number % j == 0:
            return 0
    return number


numbers = check_prime(np.arange(10**6, dtype=np.int32))
print(np.count_nonzero(numbers), "primes")

# %%
# Odd numbers only: fewer idle threads in a warp
# ----------------------------------------------
#
# Half of the threads above have an even number and stop after one division. That saves next to nothing: a
# warp of 32 threads is busy until its slowest thread is done. So leave out the even numbers, and the even
# divisors too.
#
# .. rung:: odd_numbers
#    :counter: active_lanes

is_prime = cp.empty(1_000_000 // 2, dtype=cp.bool_)  # is_prime[i]: is 2 * i + 1 prime?
odd_numbers[(is_prime.size + 63) // 64, 64](is_prime)
print(int(is_prime.sum()) + 1, "primes")  # 2 has no place in the array

# %%
# The divisions only halve, and yet the kernel is
# :measured:`primes[odd_numbers, 10**6].speedup(thread_per_number)` as fast. A *warp step* is one division of
# a warp's slowest thread, and their number shows why:
# :measured:`primes[thread_per_number, 10**6].work(warp_steps)` in the first kernel,
# :measured:`primes[odd_numbers, 10**6].work(warp_steps)` in this one. :evidence:`count warp_steps`

# %%
# Stop at the square root
# -----------------------
#
# A divisor above the square root has a partner below it, so no thread needs to look further.
#
# .. rung:: to_square_root

to_square_root[(is_prime.size + 63) // 64, 64](is_prime)
print(int(is_prime.sum()) + 1, "primes")

# %%
# This is the largest gain on the page, and it has nothing to do with GPUs: only
# :measured:`primes[to_square_root, 10**6].work(warp_steps)` are left. :evidence:`count warp_steps` Their rate
# went from :measured:`primes[odd_numbers, 10**6].rate(warp_steps)` to
# :measured:`primes[to_square_root, 10**6].rate(warp_steps)`, as a step has become shorter, too. Python's
# ``%`` of signed 64-bit numbers is more than a division: a remainder with another sign than the divisor has
# to be corrected. In the :term:`PTX` of the ``for`` loop that and the counting of ``range`` are most of a
# step. In the ``while`` loop the compiler leaves out much of both.

# %%
# Divide in 32 bits
# -----------------
#
# All these numbers fit into 32 bits, but the loop above works with 64. Its PTX has a division of 64 bits and
# one of 32, and each step tests whether both numbers fit into 32, so that the short one will do. So write
# ``np.uint32`` around every result: Numba makes 64 bits of the product or the sum of two such numbers. As
# they have no sign, ``%`` has nothing to correct, either.
#
# .. rung:: in_32_bits

in_32_bits[(is_prime.size + 63) // 64, 64](is_prime)
print(int(is_prime.sum()) + 1, "primes")

# %%
# Now the PTX has a single division, and no such test. As many warp steps as before take
# :measured:`primes[in_32_bits, 10**7].time` for ten million numbers, against
# :measured:`primes[to_square_root, 10**7].time` with 64 bits.
# :doc:`Numba's types </gallery/first_kernels/numba_types>` is on what 64 bits cost in other kernels.

# %%
# Sieve of Eratosthenes in global memory
# --------------------------------------
#
# The :term:`sieve of Eratosthenes` does not divide at all. It takes a step, say 7, and crosses off every odd
# multiple of 7 from 49 on: each of these is a *mark*. What is never marked is prime. Steps up to the square
# root are enough.
#
# .. drawing:: primes
#
#     The odd numbers from 1 to 49 in a row. Below them, steps of 3, 5 and 7 cross off their multiples, each
#     from its square on. A dashed line cuts the row into two segments, one for block 0 and one for block 1.
#
# At first, every odd number except 1 counts as prime:
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: all_odd
#
# Then sixteen blocks walk each step, and all of them write to one array in global memory.
#
# .. rung:: sieve_global
#    :counter: dram_bytes

from math import isqrt

limit = 1_000_000
is_prime = cp.empty(limit // 2, dtype=cp.bool_)
all_odd[(is_prime.size + 511) // 512, 512](is_prime)
n_steps = (isqrt(limit - 1) - 1) // 2  # 3, 5, 7, ... up to the square root
sieve_global[(16, n_steps), 512](is_prime)
print(int(is_prime.sum()) + 1, "primes")

# %%
# Two threads may mark the same number. Both write ``False``, so no atomic operation is needed. A block may
# also take its step for a prime before another block has marked it. Then its walk is wasted, but the answer
# is still right.

# %%
# Shared memory holds a segment of the sieve
# ------------------------------------------
#
# A hundred million numbers take the kernel above :measured:`primes[sieve_global, 10**8].time`, and ten times
# as many take :measured:`primes[sieve_global, 10**9].time`. The first array, 50 MB, fits into the L2 cache;
# the second, 500 MB, does not. The marks of most steps lie far apart, and memory moves a sector of 32 bytes
# at a time. So a billion marks of one byte each move
# :measured:`primes[sieve_global, 10**9].counter(dram_bytes)`. :evidence:`counter dram_bytes`
#
# Shared memory takes scattered bytes at full speed, as long as they lie in different banks, but there is
# little of it. So each block sieves a segment of 32 768 odd numbers there and writes it out once. It gets its
# steps from the kernel above, run up to the square root.
#
# .. rung:: sieve_shared
#    :counter: dram_bytes

limit = 1_000_000_000
root = isqrt(limit - 1)
is_prime = cp.empty(limit // 2, dtype=cp.bool_)
small = is_prime[: (root + 1) // 2]  # a view: the numbers up to the root
all_odd[(small.size + 511) // 512, 512](small)
sieve_global[(4, (isqrt(root) - 1) // 2), 512](small)
sieve_shared[(is_prime.size + SEGMENT - 1) // SEGMENT, 512](small, is_prime)
print(int(is_prime.sum()) + 1, "primes")

# %%
# A short step makes many marks in a segment, so the whole block shares it. A long one makes few, and one
# thread walks it alone. The barriers, ``cuda.syncthreads()``, keep the phases apart: no thread marks before
# the segment is cleared, or copies before it is finished. They stand outside of every ``if``, where all
# threads of the block come to them: at a barrier that some threads skip, the others may wait forever, in a
# deadlock. The first block writes the small numbers again, while other blocks read them. It writes what is
# there already, so that does no harm.
#
# .. kernel:: gpuguide.topics.primes.counts
#    :names: smallest_divisors, turns_thread_per_number, turns_odd_numbers,
#        turns_to_square_root, divisions, warp_steps, marks, segments
#    :fold: How divisions, warp steps, marks and segments are counted
#
# .. kernel:: gpuguide.topics.primes.kernels_cpu
#    :names: odd_primes, sieve_segment, sieve_parallel
#    :fold: The sieve on all CPU threads
#
# .. kernel:: gpuguide.topics.primes.study
#    :names: sieve_numpy
#    :fold: The sieve in NumPy, on one thread

# %%

# record: The study: thirteen variants at up to six sizes, every answer compared byte for byte
from gpuguide.topics.primes import study as sieves

results = sieves.primes.run()

# %%
# Result: shared memory pays for large ranges
# -------------------------------------------

# draw
ax = gg.plot_time(
    results,
    variants=[
        "thread_per_number",
        "odd_numbers",
        "to_square_root",
        "sieve_global",
        "sieve_shared",
    ],
    clock="device",
)
# Beside its line, this name would lie across another.
for name in ax.texts:
    if name.get_text() == "Stop at the square root":
        name.set_position((0, 14))
        name.set_horizontalalignment("center")

# %%
# .. finding::
#
#    Ten million numbers take :measured:`primes[to_square_root, 10**7].time` by division up to the root, and
#    :measured:`primes[in_32_bits, 10**7].time` if that is done in 32 bits. The sieve in global memory takes
#    :measured:`primes[sieve_global, 10**7].time`, and shared memory makes it no faster at this size. All of
#    this is time on the GPU, and the answer stays there.

# draw
ax = gg.plot_speedup(results, "sieve_global", variants=["sieve_shared"])
ax.set_yscale("linear")
ax.set_ylim(bottom=0)
ax.yaxis.set_major_formatter("{x:g}×")

# %%
# .. finding::
#
#    At a million numbers the sieve in global memory is
#    :measured:`primes[sieve_global, 10**6].speedup(sieve_shared)` as fast as the one in shared memory. At a
#    billion, shared memory is :measured:`primes[sieve_shared, 10**9].speedup(sieve_global)` as fast.
#
# A million numbers are 16 segments, so only 16 of the 132 multiprocessors have work.
# :evidence:`count segments` A hundred thousand numbers, two segments, take about as long:
# :measured:`primes[sieve_shared, 10**5].time` against :measured:`primes[sieve_shared, 10**6].time`. At a
# billion all multiprocessors have work, and still they make only
# :measured:`primes[sieve_shared, 10**9].share(marks)` of the marks that shared memory could take, which are
# 32 per clock cycle and multiprocessor. What limits the sieve is arithmetic: the integer units are
# :measured:`primes[sieve_shared, 10**9].counter(alu_active)` busy. :evidence:`counter alu_active` We think
# that most of it is not marking. In each segment, every step first needs a division to find where it lands,
# and then a long step makes six marks on average. :evidence:`opinion`

# %%
# When not to sieve on the GPU
# ----------------------------
#
# For ten thousand numbers the CPU's sieve takes :measured:`primes[cpu_sieve, 10**4].time`. The GPU's takes
# :measured:`primes[sieve_shared, 10**4].time`, and with its launches and a pinned copy
# :measured:`primes[with_copy_pinned, 10**4].time`. If the answer is wanted on the host, a billion numbers
# take :measured:`primes[with_copy_pinned, 10**9].time` into pinned memory and
# :measured:`primes[with_copy, 10**9].time` into pageable memory, against
# :measured:`primes[cpu_sieve, 10**9].time` for our sieve on all CPU threads. If their number is enough, the
# library primesieve counts them there in :measured:`segmented_sieve:count[primesieve, 10**9].time`. Ten
# million numbers take :measured:`primes[numpy_sieve, 10**7].time` in NumPy, which uses one thread,
# :measured:`primes[cpu_sieve, 10**7].time` on all CPU threads, and
# :measured:`primes[with_copy_pinned, 10**7].time` on the GPU with a pinned copy. For a single large number a
# sieve is the wrong tool on either side; use a primality test such as ``sympy.isprime``.

# %%
# Your turn: the smallest factor of each number
# ---------------------------------------------
#
# A sieve that asks for more than primes can no longer let two threads write to one place as they please.
#
# .. exercise:: smallest_factor

# %%

# draw: Claims, and the parts of one launch
facts_of_parts = [
    facts[f"number_{name}"].value for name in ("launch", "work", "copy_back")
]
gg.explained("number_explained", facts_of_parts, facts["number_whole"].value)
gg.fact(
    "number_work_share",
    facts["number_work"].value / facts["number_whole"].value,
    unit="share",
)
gg.claim(results, "python", faster_than="launch_per_number", at=10**4, by=4)
gg.claim(results, "to_square_root", faster_than="odd_numbers", at=10**6, by=100)
gg.claim(
    results, "sieve_global", faster_than=["to_square_root", "in_32_bits"], at=10**7, by=10
)
gg.claim(results, "in_32_bits", faster_than="to_square_root", at=10**7, by=1.2)
gg.claim(results, "sieve_global", faster_than="sieve_shared", at=10**6, by=2)
gg.claim(results, "sieve_shared", faster_than="sieve_global", at=10**9, by=3)
gg.claim(results, "cpu_sieve", faster_than="with_copy_pinned", at=10**4, by=10)
gg.claim(results, "with_copy_pinned", faster_than="cpu_sieve", at=10**9, by=3)

# %%
# Next
# ----
#
# Onward: :doc:`Segmented sieve </gallery/first_kernels/segmented_sieve>`, on a much faster sieve in CUDA C++,
# built round the banks of shared memory. Sideways: :doc:`Divergence </gallery/first_kernels/divergence>`,
# on warps whose threads have different amounts of work.
