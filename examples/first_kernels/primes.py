"""
Primes: a better algorithm beats more threads
=============================================

What makes a search for primes fast: more threads, less work, or better memory?
"""
# %%
# Find a better algorithm before you add threads. If each thread stops at the square root, a search of a
# million numbers is :measured:`primes[to_square_root, 10**6].speedup(odd_numbers)` as fast; a sieve, which
# does not divide at all, is worth another :measured:`primes[sieve_global, 10**6].speedup(to_square_root)`.
# What memory can add comes after that: for a billion numbers, shared memory gains
# :measured:`primes[sieve_shared, 10**9].speedup(sieve_global)`.
#
# .. headline:: To stop at the square root gains more than all other steps together
#
# .. drawn:: primes
#
#    import matplotlib.pyplot as plt
#
#    from gpuguide.charts.style import KERNEL, MUTED, describe, style
#
#    steps = {
#        "Leave out even numbers (a million)": results.speedup("odd_numbers", "thread_per_number", 10**6),
#        "Stop at the square root (a million)": results.speedup("to_square_root", "odd_numbers", 10**6),
#        "Sieve instead of dividing (a million)": results.speedup("sieve_global", "to_square_root", 10**6),
#        "Sieve in shared memory (a billion numbers)": results.speedup("sieve_shared", "sieve_global", 10**9),
#    }
#    with style():
#        ax = plt.subplots(figsize=(7.2, 2.3))[1]
#        for row, (step, gain) in enumerate(steps.items()):
#            ax.text(0, row - 0.22, step, va="bottom")
#            ax.plot([0, gain.value], [row, row], color=MUTED, linewidth=1)
#            ax.plot(gain.value, row, "o", color=KERNEL, markersize=8)
#            ax.text(gain.value, row, f"   {gain}", va="center", weight="bold")
#        ax.set(ylim=(len(steps) - 0.7, -0.9), xlim=(-10, 1.25 * max(gain.value for gain in steps.values())))
#        ax.axis("off")
#        words = "; ".join(f"{step} {gain}" for step, gain in steps.items())
#        describe(ax, f"Gain of four steps, each over the one before, as dots on a linear axis. {words}.")

# %%
# One thread per number
# ---------------------
#
# A number is prime if nothing from 2 to its half divides it. Each number can be tested by itself, so the loop
# over the numbers becomes the grid, and a thread keeps only the loop over the divisors.
#
# .. rung:: thread_per_number

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
# What goes wrong: a launch for every number
# ------------------------------------------
#
# Launch once, for all numbers. If the loop over the numbers stays in Python, with a launch of one thread for
# each of them, ten thousand numbers take :measured:`primes[launch_per_number, 10**4].time`, and plain Python
# without a GPU takes :measured:`primes[python, 10**4].time`. Most of the time goes into launching and copying
# the result back.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: launch_per_number
#    :fold: The kernel for one number

# wrong, fold: One launch per number, and its result fetched before the next
result = cp.empty(1, dtype=cp.bool_)
primes = []
for number in range(2, 1_000):
    launch_per_number[1, 1](number, result)
    if result.get()[0]:  # waits for the kernel, then copies back
        primes.append(number)
print(len(primes), "primes")

# %%
# If you would rather write no kernel, compile the test as a :term:`ufunc` with
# ``@vectorize(target="cuda")``. It is about as fast as the kernel above, copies included.

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
# Leave out even numbers
# ----------------------
#
# Half of the threads above have an even number and stop after one division. That saves next to nothing: the
# 32 threads of a warp run together, and the warp is busy until its slowest thread is done. So leave the even
# numbers out, and the even divisors as well.
#
# .. rung:: odd_numbers

is_prime = cp.empty(1_000_000 // 2, dtype=cp.bool_)  # is_prime[i]: is 2 * i + 1 prime?
odd_numbers[(is_prime.size + 63) // 64, 64](is_prime)
print(int(is_prime.sum()) + 1, "primes")  # 2 has no place in the array

# %%
# The number of divisions is only halved, but the kernel gains more than that. There are fewer warps, and in
# each of them the slowest thread has fewer divisions to do. :evidence:`count warp_steps`

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
# This is the largest gain on the page, and it has nothing to do with GPUs. A prime near a million needs 500
# divisions now, and no longer 250 000. :evidence:`count warp_steps`

# %%
# .. dropdown:: Another gain: divide in 32 bits
#
#    All these numbers fit into 32 bits, but Numba works with 64. Write ``np.uint32`` around every result: of
#    the product or the sum of two such numbers Numba makes 64 bits again. Ten million numbers then take
#    :measured:`primes[in_32_bits, 10**7].time`, against :measured:`primes[to_square_root, 10**7].time`.
#
#    .. kernel:: gpuguide.topics.primes.kernels
#       :names: in_32_bits
#
#    In 64 bits the :term:`PTX` has a division of 64 bits and one of 32, and each step tests whether both
#    numbers fit into 32, so that the short one will do. Python's ``%`` of signed numbers is more than a
#    division, too: a remainder with another sign than the divisor has to be corrected. With unsigned numbers
#    of 32 bits there is a single division, no test and nothing to correct.
#    :doc:`Types: keep kernels in 32 bits </gallery/first_kernels/numba_types>` shows what 64 bits cost
#    elsewhere.

# fold: The same test in 32 bits
in_32_bits[(is_prime.size + 63) // 64, 64](is_prime)
print(int(is_prime.sum()) + 1, "primes")

# %%
# Sieve: cross off multiples instead of dividing
# ----------------------------------------------
#
# The :term:`sieve of Eratosthenes` does not divide at all. It takes a step, say 7, and crosses off every odd
# multiple of 7 from 49 on. What is never crossed off is prime. Steps up to the square root are enough.
#
# .. drawing:: primes
#
#     The odd numbers from 1 to 49 in a row. Below them, steps of 3, 5 and 7 cross off their multiples, each
#     from its square on. A dashed line cuts the row into two segments, one for block 0 and one for block 1.
#
# At first, every odd number except 1 counts as prime. Then sixteen blocks walk each step, and all of them
# write to one array in :term:`global memory`.
#
# .. kernel:: gpuguide.topics.primes.kernels
#    :names: all_odd
#    :fold: Every odd number, except 1
#
# .. rung:: sieve_global

from math import isqrt

limit = 1_000_000
is_prime = cp.empty(limit // 2, dtype=cp.bool_)
all_odd[(is_prime.size + 511) // 512, 512](is_prime)
n_steps = (isqrt(limit - 1) - 1) // 2  # 3, 5, 7, ... up to the square root
sieve_global[(16, n_steps), 512](is_prime)
print(int(is_prime.sum()) + 1, "primes")

# %%
# Two threads may cross off the same number. Both write ``False``, so no atomic operation is needed. A block
# may also take its step for a prime before another block has crossed it off. Then its walk is wasted, but the
# answer is still right.

# %%
# Sieve in shared memory, a segment per block
# -------------------------------------------
#
# Large ranges do not fit into the caches any more, and memory moves 32 bytes for each byte that is crossed
# off: for a billion numbers :measured:`primes[sieve_global, 10**9].counter(dram_bytes)`.
# :evidence:`counter dram_bytes` Shared memory takes scattered bytes at full speed, but there is little of it.
# So each block sieves a segment of 32 768 odd numbers there and writes it out once. The picture shows the
# idea with a segment of 96.
#
# .. headline:: One segment: multiples crossed off, primes left

# draw
import matplotlib.pyplot as plt
import numpy as np

from gpuguide.charts.style import INK, KERNEL, MUTED, SERIES, describe

columns, first = 12, 193
numbers = first + 2 * np.arange(8 * columns)
kinds = {
    3: ("crossed off by 3", SERIES[5]),
    5: ("by 5", SERIES[7]),
    7: ("by 7", SERIES[6]),
}
steps = range(3, int(numbers[-1] ** 0.5) + 1, 2)
figure, ax = plt.subplots(figsize=(7.2, 3.4))
for place, number in enumerate(numbers):
    row, column = divmod(place, columns)
    by = next((step for step in steps if number % step == 0), 0)
    _, colour = kinds.get(by, ("", MUTED))
    if by:
        box = {"facecolor": colour, "alpha": 0.25, "edgecolor": "none"}
        ax.plot(
            [column + 0.1, column + 0.9], [row + 0.85, row + 0.15], color=colour, lw=1
        )
    else:
        box = {"facecolor": "none", "edgecolor": KERNEL, "linewidth": 1.6}
    ax.add_patch(plt.Rectangle((column + 0.06, row + 0.08), 0.88, 0.84, **box))
    ax.text(
        column + 0.5,
        row + 0.5,
        str(number),
        ha="center",
        va="center",
        fontsize=9.5,
        color=MUTED if by else INK,
        weight="normal" if by else "bold",
    )
for label, colour in (*kinds.values(), ("by larger steps", MUTED)):
    ax.plot([], [], "s", color=colour, alpha=0.5, label=label)
ax.plot([], [], "s", color=KERNEL, markerfacecolor="none", label="prime")
ax.set(xlim=(0, columns), ylim=(8, 0))
ax.axis("off")
ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=5, handletextpad=0.2)
n_primes = sum(all(number % step for step in steps) for number in numbers)
describe(
    ax,
    f"The odd numbers from {first} to {numbers[-1]} in a grid, {numbers.size} of them. Multiples of 3, 5, 7 "
    f"and of larger steps up to the square root are crossed off; {n_primes} primes are left.",
)

# %%
# The steps come from the kernel above, run up to the square root only.
#
# .. rung:: sieve_shared

limit = 1_000_000_000
root = isqrt(limit - 1)
is_prime = cp.empty(limit // 2, dtype=cp.bool_)
small = is_prime[: (root + 1) // 2]  # a view: the numbers up to the root
all_odd[(small.size + 511) // 512, 512](small)
sieve_global[(4, (isqrt(root) - 1) // 2), 512](small)
sieve_shared[(is_prime.size + SEGMENT - 1) // SEGMENT, 512](small, is_prime)
print(int(is_prime.sum()) + 1, "primes")

# %%
# A short step hits a segment many times, so the whole block shares it. A long one hits it rarely, and one
# thread walks it alone. Two rules make the kernel right:
#
# - **Barriers.** ``cuda.syncthreads()`` keeps the phases apart: no thread crosses off before the segment is
#   cleared, or copies before it is finished.
# - **No barrier inside an** ``if`` **that only some threads enter.** All threads of the block must come to
#   it. If some skip it, the others may wait forever, in a deadlock.
#
# .. dropdown:: The first block writes what others read
#
#    The first block writes the small numbers again, while other blocks read them. It writes what is there
#    already, so that does no harm.
#
# .. kernel:: gpuguide.topics.primes.counts
#    :names: smallest_divisors, turns_thread_per_number, turns_odd_numbers,
#        turns_to_square_root, divisions, warp_steps, marks, segments
#    :fold: How divisions and multiples are counted
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
# Which kernel for which range
# ----------------------------
#
# For up to ten million numbers, take the sieve in global memory; for more, the one in shared memory. A
# million numbers are 16 segments, so only 16 of the 132 multiprocessors have work. :evidence:`count segments`
# There, the sieve in global memory is :measured:`primes[sieve_global, 10**6].speedup(sieve_shared)` as fast.
# The chart shows the time on the GPU; the answer stays there.
#
# .. headline:: The better the algorithm, the larger the range in the same time

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
# .. dropdown:: What limits the sieve in shared memory
#
#    At a billion numbers all multiprocessors have work, and still they cross off only
#    :measured:`primes[sieve_shared, 10**9].share(marks)` of what shared memory could take, which is 32
#    numbers per clock cycle and multiprocessor. What limits the sieve is arithmetic: the integer units are
#    :measured:`primes[sieve_shared, 10**9].counter(alu_active)` busy. :evidence:`counter alu_active` We think
#    that most of it is not crossing off. In each segment, every step first needs a division to find where it
#    lands, and then a long step hits six numbers on average. :evidence:`opinion`

# %%
# When not to sieve on the GPU
# ----------------------------
#
# For thousands of numbers, stay on the CPU. The table has the times until the answer is in the memory of the
# CPU, with pinned copies.
#
# .. list-table::
#    :header-rows: 1
#
#    * - sieve
#      - 10\ :sup:`4`
#      - 10\ :sup:`7`
#      - 10\ :sup:`9`
#    * - All threads of the CPU
#      - :measured:`primes[cpu_sieve, 10**4].time`
#      - :measured:`primes[cpu_sieve, 10**7].time`
#      - :measured:`primes[cpu_sieve, 10**9].time`
#    * - GPU, and the answer copied back
#      - :measured:`primes[with_copy_pinned, 10**4].time`
#      - :measured:`primes[with_copy_pinned, 10**7].time`
#      - :measured:`primes[with_copy_pinned, 10**9].time`
#
# If you need only the number of primes below a billion and would rather write no kernel, the library
# primesieve counts them on the CPU in :measured:`segmented_sieve:count[primesieve, 10**9].time`. The kernel
# of the next page takes :measured:`segmented_sieve:count[segmented_pinned, 10**9].time`. For a single large
# number a sieve is the wrong tool on either side; use a primality test such as ``sympy.isprime``.

# %%
# .. remember::
#
#    - Count the work before you tune it: to look for divisors up to the square root only is worth
#      :measured:`primes[to_square_root, 10**6].speedup(odd_numbers)`, without any change to the launch.
#    - Write scattered results into shared memory, a segment per block, if no cache holds them: a sieve of a
#      billion numbers gains :measured:`primes[sieve_shared, 10**9].speedup(sieve_global)`.

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
gg.claim(results, "sieve_global", faster_than="to_square_root", at=10**6, by=10)
gg.claim(
    results, "sieve_global", faster_than=["to_square_root", "in_32_bits"], at=10**7, by=10
)
gg.claim(results, "in_32_bits", faster_than="to_square_root", at=10**7, by=1.2)
gg.claim(results, "sieve_global", faster_than="sieve_shared", at=10**6, by=2)
gg.claim(results, "sieve_shared", faster_than="sieve_global", at=10**9, by=3)
gg.claim(results, "cpu_sieve", faster_than="with_copy_pinned", at=10**4, by=10)
gg.claim(results, "with_copy_pinned", faster_than="cpu_sieve", at=10**9, by=3)

# %%

# thumbnail
from gpuguide.charts import thumbnail

steps = {
    "divide by all": "odd_numbers",
    "up to the square root": "to_square_root",
    "sieve": "sieve_global",
}
times = {label: results.time(name, 10**6) for label, name in steps.items()}
_ = thumbnail.bars(times, "time for a million numbers")

# %%
# Next
# ----
#
# Next: :doc:`Shared memory: fill it, use every bank </gallery/first_kernels/segmented_sieve>`, a much faster
# sieve in CUDA C++. See also: :doc:`Divergence: keep warps busy </gallery/first_kernels/divergence>`, on
# warps whose threads have different amounts of work.
