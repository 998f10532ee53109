"""
Shared memory: fill it, use every bank
======================================

How fast can one GPU count the primes below a billion, and what does that take?
"""
# %%
# Fill the shared memory of each multiprocessor with one block, let its warps fetch their work, and let the 32
# threads of a warp write to 32 different banks. Launch and copy included, such a sieve counts the primes
# below a billion in :measured:`count[segmented_pinned, 10**9].time`; primesieve, a library tuned for CPUs,
# takes :measured:`count[primesieve, 10**9].time` on 16 virtual CPUs.
#
# .. headline:: The GPU counts the primes below a billion long before the CPU
#
# .. drawn:: segmented_sieve
#
#     from gpuguide.charts.shapes import plot_values
#
#     names = {"primesieve, CPU": "primesieve", "this sieve, GPU": "segmented_pinned"}
#     times = {label: counts.time(name, 10**9) for label, name in names.items()}
#     plot_values(times, "time to count the primes below a billion")

# %%
# Shared memory has 32 banks: keep a warp's threads apart
# -------------------------------------------------------
#
# :doc:`Primes: a better algorithm beats more threads </gallery/first_kernels/primes>` ends with a sieve that
# marks bytes in shared memory, and takes :measured:`primes:primes[sieve_shared, 10**9].time` for a billion
# numbers. All steps of this page together, in CUDA C++, bring that down to
# :measured:`segmented[segmented, 10**9].time`.
#
# The first step is to know what that memory is made of: 32 :term:`banks <memory bank>`, each four bytes wide.
# A warp's writes go in one pass if no two of its threads, its lanes, want different words of one bank.
# Otherwise they take several.
#
# Which bank each lane writes to can be worked out before there is a kernel. To sieve, the multiples of every
# prime p are crossed off. Say that each lane walks a stretch of neighbouring multiples, and that the next
# lane begins where it ends.

import numpy as np

p = 29  # any odd step gives the same
lane = np.arange(32)
for stretch in (12, 16, 24, 36):
    bank = lane * stretch * p // 4 % 32
    busiest = np.bincount(bank).max()
    print(f"{stretch} multiples per lane: {busiest} in the busiest bank")

# %%
# .. try-it::
#
#    Put 32 into the list, a natural choice for a warp. Its lanes then begin a multiple of 8 words apart, and
#    eight of them meet in one bank. Only with an odd number of words from one lane to the next does each have
#    a bank of its own.
#
# .. drawing:: banks
#
#     Two rows of 32 boxes, the memory banks. With 12 multiples per lane each box says 1: each lane has a
#     bank of its own. With 24 every second box says 2 and the others are empty: lanes meet in pairs.
#
# In this sieve, a lane walks 12 multiples at a time. Every third of them is a multiple of 3, too, and is
# crossed off elsewhere; that leaves eight marks. ``LANES`` is 32 for short steps, which a warp shares, and 1
# for long ones.
#
# .. kernel:: gpuguide.topics.segmented_sieve.kernels
#    :names: CROSS_OFF_SOURCE
#
# What is that worth? With a stretch of 24, lanes meet in pairs, and the same kernel takes
# :measured:`segmented[stretch_24, 10**9].time` instead of :measured:`segmented[segmented, 10**9].time`. It
# has :measured:`segmented[stretch_24, 10**9].counter(bank_conflicts)` conflicts instead of
# :measured:`segmented[segmented, 10**9].counter(bank_conflicts)`. :evidence:`counter bank_conflicts` Those
# that a stretch of 12 leaves come from the long steps, we think: one thread walks each of them alone, and
# meets others in a bank by chance. :evidence:`opinion`
#
# .. dropdown:: Other stretches, counted
#
#    .. list-table:: A billion numbers
#       :header-rows: 1
#
#       * - stretch
#         - passes of shared memory
#         - for conflicts
#         - time
#       * - 12
#         - :measured:`segmented[segmented, 10**9].counter(shared_wavefronts)`
#         - :measured:`segmented[segmented, 10**9].counter(bank_conflicts)`
#         - :measured:`segmented[segmented, 10**9].time`
#       * - 24
#         - :measured:`segmented[stretch_24, 10**9].counter(shared_wavefronts)`
#         - :measured:`segmented[stretch_24, 10**9].counter(bank_conflicts)`
#         - :measured:`segmented[stretch_24, 10**9].time`
#       * - 36
#         - :measured:`segmented[stretch_36, 10**9].counter(shared_wavefronts)`
#         - :measured:`segmented[stretch_36, 10**9].counter(bank_conflicts)`
#         - :measured:`segmented[stretch_36, 10**9].time`
#
#    Stretches of 36 cause hardly more conflicts than those of 12, but more lanes are idle: of a warp's 32
#    threads, :measured:`segmented[stretch_36, 10**9].counter(active_lanes)` take part in an instruction
#    instead of :measured:`segmented[segmented, 10**9].counter(active_lanes)`.
#    :evidence:`counter active_lanes` A segment has about 200 000 odd numbers. Beyond a step of 173, 32
#    stretches of 36 are longer than that; stretches of 12 are so only beyond 520.

# %%

# record: The parts of the kernel
import gpuguide as gg
from gpuguide.topics.segmented_sieve.kernels import (
    CROSS_OFF_SOURCE,
    JOBS_SOURCE,
    PLACES_SOURCE,
    PRIMES_SOURCE,
    SEGMENTED_SOURCE,
    STORE_SOURCE,
    SUM_SOURCE,
    TABLE_BYTES,
    TABLES_SOURCE,
    segment_plan,
)

# %%
# One block per multiprocessor fills its shared memory
# ----------------------------------------------------
#
# Ask for most of a :term:`multiprocessor`'s shared memory at launch, by ``max_dynamic_shared_size_bytes``
# below, and launch one block per multiprocessor, since no second one would fit. Each block gets a share of
# the odd numbers and goes through it, segment by segment. All shares are about equal, and so are all
# segments, so that no block is done much later than the others.
#
# .. kernel:: gpuguide.topics.segmented_sieve.kernels
#    :names: TABLE_BYTES, STATIC_BYTES, round_up, segment_plan
#    :fold: Shares and segments
#
# The less is left to cross off, the better. The steps from 3 to 23 would make nearly half of all marks, but
# their pattern repeats, so each block prepares three such patterns, called wheels, once.
#
# .. kernel:: gpuguide.topics.segmented_sieve.kernels
#    :names: TABLES_SOURCE
#    :fold: The wheels
#
# The other steps are the primes from 29 to the square root, 3392 for a billion. Every block lists them for
# itself. That repeats work, but saves a launch that would have to end before this one begins, and a list that
# all blocks would have to fetch. The block then works out where each step first lands in its share; from one
# segment to the next, this place is only carried over.
#
# .. kernel:: gpuguide.topics.segmented_sieve.kernels
#    :names: SUM_SOURCE, PRIMES_SOURCE, PLACES_SOURCE
#    :fold: The primes that are steps, and where each begins

# %%
# Warps fetch their work, the longest first
# -----------------------------------------
#
# A step below 1024 makes a job for a warp, and so do 32 longer ones. A warp that is done takes the next job
# that nobody has taken. Thus no warp is left with all the long walks while the others wait at the barrier.
#
# .. kernel:: gpuguide.topics.segmented_sieve.kernels
#    :names: JOBS_SOURCE
#
# At the end of a segment, each thread packs 32 bytes into a word, adds the wheels, and stores and counts what
# is left. Half of the threads begin with the second half of their word, which keeps them out of the banks of
# the others.
#
# .. kernel:: gpuguide.topics.segmented_sieve.kernels
#    :names: STORE_SOURCE
#    :fold: Bytes become bits

# %%
# One launch of CUDA C++ with CuPy
# --------------------------------
#
# CuPy compiles the parts as one string. The last part is the kernel that calls the others.
#
# .. kernel:: gpuguide.topics.segmented_sieve.kernels
#    :names: SEGMENTED_SOURCE
#    :fold: The kernel
#
# .. rung:: segmented
#    :beside:

from math import isqrt

import cupy as cp

source = TABLES_SOURCE + SUM_SOURCE + PRIMES_SOURCE + PLACES_SOURCE
source += CROSS_OFF_SOURCE + JOBS_SOURCE + STORE_SOURCE + SEGMENTED_SOURCE
segmented = cp.RawKernel(source, "segmented")

limit = 1_000_000_000
gpu = cp.cuda.Device().attributes
blocks_per_grid, share, segment = segment_plan(
    limit, gpu["MultiProcessorCount"], gpu["MaxSharedMemoryPerBlockOptin"]
)
shared_bytes = TABLE_BYTES + segment
segmented.max_dynamic_shared_size_bytes = shared_bytes
words = cp.zeros((limit // 2 + 31) // 32 + 1, dtype=cp.uint32)  # the last one counts
sizes = (np.int32(n) for n in (limit, isqrt(limit - 1), share, segment))
segmented((blocks_per_grid,), (1024,), (*sizes, words), shared_mem=shared_bytes)
print(int(words[-1]), "primes")
print([2 * i + 1 for i in range(32) if int(words[0]) >> i & 1])  # 2 has no bit

# %%
# .. kernel:: gpuguide.topics.segmented_sieve.study
#    :names: primes_segmented, primes_with_copy, count_segmented, marks
#    :fold: What the studies launch, and how marks are counted

# %%

# record: The studies: every bit compared, then timed; and primesieve beside it
from gpuguide.topics.segmented_sieve import study as sieves

results = sieves.segmented.run()
counts = sieves.count.run()

# %%
# For a million numbers the gain is small: the GPU takes :measured:`count[segmented_pinned, 10**6].time`,
# nearly all of it for launch and copy, and primesieve :measured:`count[primesieve, 10**6].time`.
#
# .. dropdown:: What limits the sieve
#
#    A billion numbers take :measured:`segmented[segmented, 10**9].work(marks)`. If each bank took one in
#    every clock cycle, the GPU could make them all in :measured:`at_the_limit`; the sieve reaches
#    :measured:`segmented[segmented, 10**9].share(marks)` of that rate. And yet shared memory comes nearest to
#    being the limit: at one pass per clock cycle and multiprocessor, its
#    :measured:`segmented[segmented, 10**9].counter(shared_wavefronts)` passes take :measured:`in_turns`, and
#    the whole sieve :measured:`segmented[segmented, 10**9].time`. :evidence:`counter shared_wavefronts`
#
#    We think that the passes without a conflict come from marks and from packing and clearing the bytes.
#    :evidence:`opinion` The GPU's memory does not
#    limit the sieve: its bits go there at :measured:`segmented[segmented, 10**9].rate`, far below what that
#    memory takes.

# %%
# Copy the count, not the list
# ----------------------------
#
# Count on the GPU if you can, and copy only the number. If the list is wanted on the host, the copy takes
# longer than the sieve itself, even of packed bits.
#
# .. headline:: Pinned memory brings the list to the host sooner

# draw
_ = gg.plot_time(results, variants=["with_copy", "with_copy_pinned"], clock="end_to_end")

# %%
# From the call to the list on the host, a billion numbers take
# :measured:`segmented[with_copy_pinned, 10**9].time` with a pinned copy and
# :measured:`segmented[with_copy, 10**9].time` with a pageable one. With a byte per odd number, eight times as
# much would have to be copied.

# %%
# .. remember::
#
#    - Leave an odd number of four-byte words between neighbouring threads in shared memory: each then has a
#      bank of its own.
#    - Fetch a count or a sum and not the list: for the primes below a billion that takes
#      :measured:`count[segmented_pinned, 10**9].time` instead of
#      :measured:`segmented[with_copy_pinned, 10**9].time`.

# %%
# Your turn: pack bytes without bank conflicts
# --------------------------------------------
#
# .. exercise:: pack_bits

# %%

# draw: Claims, and the time that the banks would need
from gpuguide.statements import counted

share = results.quantity("segmented", 10**9, "share", work="marks").value
took = results.quantity("segmented", 10**9, "time").value
gg.fact(
    "at_the_limit",
    share * took,
    unit="s",
    note="marks at one per bank, cycle and multiprocessor",
)
recording = gg.load("segmented_sieve")
device = recording.provenance
counted(
    "in_turns",
    recording.counters,
    ("segmented", "segmented", 10**9),
    "shared_wavefronts",
    per=device.sm_count * device.sm_clock_hz,
    unit="s",
    note="turns of shared memory, one per cycle and multiprocessor",
)
gg.claim(results, "segmented", faster_than=("stretch_24", "stretch_36"), at=10**9)
gg.claim(
    counts,
    "segmented_pinned",
    faster_than=("primesieve", "primesieve_alone"),
    at=10**9,
    by=30,
)

# %%

# thumbnail
from gpuguide.charts import thumbnail

names = {"CPU, all threads": "primesieve", "GPU": "segmented_pinned"}
times = {label: counts.time(name, 10**9) for label, name in names.items()}
_ = thumbnail.bars(times, "time, primes below a billion")

# %%
# Next
# ----
#
# Next: :doc:`Types: keep kernels in 32 bits </gallery/first_kernels/numba_types>`, which goes back to Python
# and shows what a bare number in a kernel can cost. See also:
# :doc:`Many short kernels: launch less often </gallery/first_kernels/launch_overhead>`, on the time that
# Python needs to launch a kernel.
