"""
Launch sizes
============

How many threads, how many blocks, and how much work for each?
"""
# %%
# With four elements a thread the maximum of two vectors runs at :measured:`maximum[four, 2**28].share` of
# what this memory can do. With one element a thread it reaches :measured:`maximum[one, 2**28].share`, and
# CuPy's ``maximum`` reaches :measured:`maximum[cupy, 2**28].share`. They differ in little but the shape of
# the :term:`launch`.

# %%
# .. rst-class:: part-idea
#
# Keep many loads on their way
# ----------------------------
#
# Taking the larger of two numbers is nothing for a GPU. Getting the numbers is all the work. A load takes
# long, which is its :term:`latency`, and meanwhile the :term:`thread` that asked for it can only wait. So the
# memory stays busy only if many other loads are on their way.
#
# How many, depends on three choices. *Threads a block* and *blocks* decide how many threads are there to ask.
# *Elements a thread* decides how many loads each of them has on its way before it waits. And a thread that is
# done has to make room for the next one, which takes time as well.
#
# .. drawing:: launch_sizes
#
#     Two rows over time. A thread with one element starts, has two loads on their way, and stores; then the
#     next thread starts and does the same. A thread with four elements starts once, has eight loads on their
#     way that overlap almost entirely, and stores four times.

# %%
# .. rst-class:: part-bare
#
# A warning that counts blocks
# ----------------------------
#
# This :term:`kernel` takes any launch. Its threads loop over the vectors in steps of the whole :term:`grid`,
# so one :term:`block` is enough for a right result. Numba looks at the number of blocks and warns when there
# are few.

import textwrap
import warnings

import cupy as cp
import numpy as np
from numba import config, cuda


@cuda.jit
def any_launch(a, b, out):
    i = cuda.grid(1)
    stride = cuda.gridsize(1)
    while i < out.size:
        out[i] = max(a[i], b[i])
        i += stride


a, b = cp.random.random((2, 2**26), dtype=cp.float32)
out = cp.empty_like(a)
config.CUDA_LOW_OCCUPANCY_WARNINGS = 1  # Numba's own setting
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for blocks_per_grid in (1, 16, 4096):
        any_launch[blocks_per_grid, 256](a, b, out)
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # from here on, small grids are meant
for warning in caught:
    print(textwrap.fill(f"{warning.category.__name__}: {warning.message}", 85))
print("GPU:  ", out[:4])
print("NumPy:", np.maximum(a[:4].get(), b[:4].get()))

# %%
# The warning compares with a fixed number of blocks. It knows neither this GPU nor this kernel. What it is
# worth will be seen among the rules of thumb below.

# %%
# .. rst-class:: part-predict
#
# How many bytes can be on their way?
# -----------------------------------
#
# A :term:`multiprocessor` can hold a certain number of threads, if it has enough :term:`registers <register>`
# for them. The share that it holds is the kernel's :term:`occupancy`, and it can be worked out from the
# compiler's figures before anything runs. Each thread of ours loads two ``float32`` for each of its elements,
# which is eight bytes. Threads held, times elements, times eight bytes: that is the most that can be on its
# way to one multiprocessor.

import gpuguide as gg
from gpuguide.machine.launch import occupancy
from gpuguide.topics.launch_sizes.maximum import maximum
from gpuguide.topics.launch_sizes.kernels import KERNELS

gpu = gg.require_gpu()
small = [gg.numba_view(x[:4096]) for x in (a, b, out)]
facts = {}
for items, name in ((1, "one"), (2, "two"), (4, "four"), (8, "eight")):
    maximum(*small, items_per_thread=items)
    (registers,) = KERNELS[items].get_regs_per_thread().values()
    held = occupancy(256, registers, 0, gpu)
    most = 256 * held.blocks_per_sm * items * 8
    facts[name] = gg.fact(
        f"most_{name}", most, unit="B", note="threads x 8 bytes x elements"
    )
    print(
        f"{name:5} a thread: {registers:2} registers,"
        f" occupancy {held.share:4.0%}, {most / 1e3:4.0f} kB"
    )

# %%
# If loads on their way are what counts, more elements a thread should help until the memory has all that it
# can handle. Beyond that they should do nothing.

# %%
# .. rst-class:: part-code
#
# One maximum in six kernels
# --------------------------
#
# **One a thread.** The usual kernel. The comparison stands in a function of its own, with the rule for NaN
# that NumPy and CuPy have: NaN wins.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: larger, maximum_one_kernel
#
# **Four a thread.** All eight loads stand before the first store. The compiler keeps them there, because it
# cannot know whether ``out`` is the same memory as ``a``. The elements of a thread lie a block's width apart,
# so that neighbours still load from neighbours and each access stays a :term:`coalesced access`. Two a thread
# looks the same.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: maximum_four_kernel
#
# **Eight a thread.** Two small arrays, which end up in registers, save some typing.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: maximum_eight_kernel
#
# **Grid-stride.** A :term:`grid-stride loop` frees the number of blocks from the length of the vectors. There
# is a version of it with four elements a turn, too.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: maximum_grid_stride_kernel, maximum_four_grid_stride_kernel
#
# The launchers take the three choices as arguments.
#
# .. kernel:: gpuguide.topics.launch_sizes.maximum
#    :names: maximum, maximum_grid_stride
#
# **CuPy maximum** is the rival that needs no kernel.
#
# .. kernel:: gpuguide.topics.launch_sizes.maximum
#    :names: maximum_cupy

# %%
# .. rst-class:: part-check
#
# A hundred launches, one result
# ------------------------------
#
# Every launch of this page, those in the maps included, has to give what the :term:`reference` says, to the
# last bit and with NaN in either input and in both. Here is the comparison over six sizes. Another one picks
# the shapes that rules of thumb are about.

from gpuguide.topics.launch_sizes import study as launch_sizes
from gpuguide.topics.launch_sizes import maximum as maximum_topic

study = maximum_topic.study()
study

# %%
# .. rst-class:: part-measure
#
# Threads, blocks, elements
# -------------------------
#
# Three sentences about the five variants are checked against the :term:`samples <sample>`: each must hold in
# every run.

results = study.run()

# %%

# draw
gg.claim(results, "four", share_at_least=0.98, at=2**28)
gg.claim(results, "eight", share_at_least=0.98, at=2**28)
gg.claim(results, "four", faster_than=("one", "cupy"), at=2**28)

# %%
# Two more sentences are about the shapes.

rules = launch_sizes.rules_study().run()

# %%

# draw
gg.claim(rules, "threads_64", faster_than="threads_33", at=2**26)
gg.claim(rules, "blocks_16", faster_than="blocks_4", at=2**26)

# %%
# Then the maps: three choices in 112 shapes, and CuPy's ``maximum``. Each is checked and then timed five
# times, in turns, on the clock of the :term:`device` alone.

from gpuguide.measure.turns import measure_map

n = launch_sizes.ELEMENTS
ceiling = {item.mix: item.value for item in gg.machine_ceilings().items}["two_to_one"]
for name, samples in measure_map(launch_sizes.shapes_study(), n).items():
    shares = [round(12 * n / sample / ceiling, 4) for sample in samples]
    gg.fact(f"map_{name}", float(np.median(shares)), unit="share", samples=shares)
print(f"{n:,} elements, held against {ceiling / 1e12:.2f} TB/s")

# %%
# .. checks:: maximum
#
# .. checks:: rules
#
# The first map has threads a block against elements a thread, with as many blocks as cover the vectors.

# draw
threads, items = (32, 33, 64, 128, 256, 512, 1024), (1, 2, 4, 8)
gg.plot_heatmap(
    [[100 * facts[f"map_t{t}_i{i}_all"].value for i in items] for t in threads],
    rows=threads,
    columns=items,
    row_name="threads a block",
    column_name="elements a thread",
    value_name="% of the ceiling",
)

# %%
# .. finding::
#
#    With 256 threads a block, one element a thread reaches :measured:`map_t256_i1_all` of the
#    :term:`ceiling`, two reach :measured:`map_t256_i2_all` and four :measured:`map_t256_i4_all`.
#
# In the second map each thread loops, one element a turn. Blocks are counted for each multiprocessor.

# draw
threads, blocks = (32, 64, 128, 256, 512, 1024), (1, 2, 4, 8, 16, 32, 64)
names = [[f"t{t}_i1_b{n}" for n in blocks] + [f"t{t}_i1_all"] for t in threads]
gg.plot_heatmap(
    [[100 * facts[f"map_{name}"].value for name in row] for row in names],
    rows=threads,
    columns=[*blocks, "all"],
    row_name="threads a block",
    column_name="blocks a multiprocessor (all: one thread an element)",
    value_name="% of the ceiling",
)

# %%
# .. finding::
#
#    Four blocks of 128 threads a multiprocessor reach :measured:`rules[blocks_4, 2**26].share`, sixteen reach
#    :measured:`rules[blocks_16, 2**26].share`. One thread an element, without a loop, reaches
#    :measured:`rules[threads_128, 2**26].share`.
#
# .. results:: maximum
#
# .. results:: rules

# %%
# .. rst-class:: part-reading
#
# What was on its way
# -------------------
#
# The maps fit the idea, but they do not prove it. So let the kernel tell. In the next cell the first thread
# of each block notes the clock of its multiprocessor three times: at its start, when all of the block's loads
# have arrived, and at its end. Adding up these lives and waits gives how many blocks were there at a time,
# and how many bytes were on their way.

from gpuguide.topics.launch_sizes.kernels import stamped_kernel
from gpuguide.topics.launch_sizes.residency import measure_residency

print("threads  elements  occupancy  measured  kB on their way  cycles waited")
shapes = [(threads, 1) for threads in (32, 64, 128, 256, 512, 1024)] + [(256, 4)]
for threads, items in shapes:
    seen = measure_residency(a, b, out, items, threads)
    registers = stamped_kernel(items).compiled.num_regs
    held = occupancy(threads, registers, 0, gpu)
    there = seen.blocks_per_sm / held.blocks_per_sm
    name = f"t{threads}_i{items}"
    gg.fact(f"there_{name}", there, unit="share", note="blocks there / blocks that fit")
    gg.fact(
        f"in_flight_{name}",
        seen.bytes_in_flight,
        unit="B",
        note="a multiprocessor, average",
    )
    gg.fact(
        f"wait_{name}",
        round(seen.wait_cycles),
        unit="1",
        note="cycles, start to last load",
    )
    print(
        f"{threads:7} {items:9} {held.share:10.0%} {there * held.share:9.0%}"
        f" {seen.bytes_in_flight / 1e3:16.1f} {seen.wait_cycles:14.0f}"
    )

# %%
# .. list-table:: Bytes on their way to one multiprocessor
#    :header-rows: 1
#
#    * -
#      - predicted, at most
#      - measured, on average
#    * - one element a thread, 128 threads
#      - :measured:`most_one`
#      - :measured:`in_flight_t128_i1`
#    * - four elements a thread, 256 threads
#      - :measured:`most_four`
#      - :measured:`in_flight_t256_i4`
#
# With one element a thread in blocks of 128, :measured:`there_t128_i1` of the blocks that fit are there at a
# time. Each waits for its only loads and is gone, and the next one has to be started. In blocks of 256 the
# hardware starts half as many, and :measured:`there_t256_i1` are there. But threads that are there do not
# suffice: they keep :measured:`in_flight_t256_i1` on their way. With four elements :measured:`there_t256_i4`
# of the blocks are there, and each thread has four times as much to wait for. The wait grows, too, from
# :measured:`wait_t256_i1` cycles to :measured:`wait_t256_i4`, because the memory has more to do.
#
# CuPy's kernel can now be placed on the map. An ``ElementwiseKernel``, which works like its ufuncs, shows the
# code that CuPy has made of it.

elementwise = cp.ElementwiseKernel(
    "float32 a, float32 b", "float32 out", "out = max(a, b)", "larger"
)
elementwise(a, b, out)
for line in elementwise.cached_code.splitlines():
    if "unroll" in line or "CUPY_FOR" in line:
        print(line.strip())

# %%
# ``CUPY_FOR`` is a grid-stride loop with one element a turn that must not be unrolled. CuPy launches it with
# 128 threads a block and a thread for every element. This is one cell of the first map, and there our own
# kernel reaches :measured:`rules[threads_128, 2**26].share` where CuPy's :term:`ufunc` reaches
# :measured:`rules[cupy, 2**26].share`. The code in the loop differs, the shape of the launch is the same:
# little on its way, and a new block after every wait. So CuPy's lower share is due to the shape of its
# launch, not to its index arithmetic.
#
# The same at all sizes, as bytes over time:

# draw
gg.plot_rate(results)

# %%
# .. finding::
#
#    At 2\ :sup:`28` elements four a thread are :measured:`maximum[four, 2**28].speedup(cupy)` as fast as CuPy
#    maximum, and :measured:`maximum[four, 2**28].speedup(one)` as fast as one a thread. The
#    :term:`grid-stride loop` with one element a turn reaches :measured:`maximum[grid_stride, 2**28].share` of
#    the ceiling.
#
# A grid-stride loop has a price of its own. To unroll it, the compiler works out at the start how many turns
# there will be, with a division. A thread that stays for many turns does not notice. We think that one that
# leaves after the first turn would.
#
# With four elements a turn each thread has more on its way, so fewer of them are needed.

# draw
threads, blocks = (32, 64, 128, 256, 512, 1024), (1, 2, 4, 8, 16, 32, 64)
names = [[f"t{t}_i4_b{n}" for n in blocks] + [f"t{t}_i4_all"] for t in threads]
gg.plot_heatmap(
    [[100 * facts[f"map_{name}"].value for name in row] for row in names],
    rows=threads,
    columns=[*blocks, "all"],
    row_name="threads a block",
    column_name="blocks a multiprocessor (all: four elements a thread)",
    value_name="% of the ceiling",
)

# %%
# .. finding::
#
#    Four blocks of 256 threads a multiprocessor reach :measured:`map_t256_i4_b4` with four elements a turn,
#    and :measured:`map_t256_i1_b4` with one.
#
# What does a block cost that has nothing to do? This kernel is empty but for a receipt, which the last block
# writes so that the grid can be checked.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: empty_kernel
#
# .. kernel:: gpuguide.topics.launch_sizes.study
#    :names: empty_grid

# %%
# It runs with 128 threads a block and with 1024 threads a block, from one block to 2\ :sup:`24`.

empty = launch_sizes.empty_study().run()

# %%
# .. checks:: empty
#
# A few blocks take about as long as a single one. After that the time grows with their number.

# draw
gg.plot_time(empty)

# %%
# .. finding::
#
#    One block of 128 threads takes :measured:`empty[t128, 1].time`. 2\ :sup:`21` of them, as many as CuPy
#    launches for 2\ :sup:`28` elements, take :measured:`empty[t128, 2**21].time` without doing anything.
#    CuPy's whole kernel takes :measured:`maximum[cupy, 2**28].time`. So what holds it up is the start of its
#    blocks. Fewer blocks with more to do each are the cure.
#
# The notebook that this maximum comes from gave rules of thumb. Here they are, measured.
#
# .. list-table::
#    :header-rows: 1
#
#    * - rule
#      - with it
#      - without it
#    * - threads a block in multiples of 32 (64 against 33, one element)
#      - :measured:`rules[threads_64, 2**26].share`
#      - :measured:`rules[threads_33, 2**26].share`
#    * - 128 to 512 threads a block (256 against 32, four elements)
#      - :measured:`map_t256_i4_all`
#      - :measured:`map_t32_i4_all`
#    * - two to four blocks a multiprocessor (4 against 16, 128 threads, one element)
#      - :measured:`rules[blocks_4, 2**26].share`
#      - :measured:`rules[blocks_16, 2**26].share`
#    * - fewer blocks cost less (empty, 2\ :sup:`12` against 2\ :sup:`21`, 128 threads)
#      - :measured:`empty[t128, 2**12].time`
#      - :measured:`empty[t128, 2**21].time`
#
# The rules were made for another GPU. Four blocks of 128 threads a multiprocessor are too few for this one,
# as the claim above says. And none of the rules mentions the elements a thread.
#
# Numba's warning is a rule of this kind. It speaks below 128 blocks, whatever the GPU. One block of 256
# threads for each multiprocessor of this GPU is enough to silence it. With one element a turn they reach
# :measured:`map_t256_i1_b1`.

# %%
# .. rst-class:: part-when-not-to
#
# When more work for each thread backfires
# ----------------------------------------
#
# Eight elements a thread need an eighth of the threads. With 4096 elements that is two blocks for a whole
# GPU. There one a thread takes :measured:`maximum[one, 2**12].time` and eight a thread take
# :measured:`maximum[eight, 2**12].time`. Neither matters beside the launch, which costs the host
# :measured:`maximum[one, 2**12].launch`: vectors that short belong on the CPU. A kernel that computes much
# for each element gains little either, because its arithmetic hides the latency already.

# %%
# .. rst-class:: part-on-your-gpu
#
# Fewer multiprocessors, the same law
# -----------------------------------
#
# The bytes that must be on their way are the memory's :term:`bandwidth` times its latency. A GPU with a
# slower memory needs fewer, so one element a thread comes closer to its ceiling, and the maps are brighter on
# the left. The limits of a multiprocessor depend on its :term:`compute capability`: many GPUs hold fewer
# threads than this one. Count blocks in multiples of your multiprocessors, not in numbers from a page.
#
# ``gpuguide run launch_sizes`` measures yours.

# %%
# .. rst-class:: part-your-turn
#
# Deal the elements out
# ---------------------
#
# In a loop over the elements it matters which thread takes which. The kernel below gives each thread a piece
# of the vectors, as one would on a CPU. Its result is right, and memory suffers. Deal the elements out in
# another way.
#
# .. exercise:: grid_stride
#
# .. question:: Does full occupancy make a kernel fast?
#
#    No. One element a thread has it on paper, and the map shows what it reaches. Occupancy counts threads
#    that are there. The memory counts loads that are on their way.
#
# .. question:: Why do blocks of 33 threads do worse than blocks of 64?
#
#    Each block covers about half as many elements, so nearly twice as many blocks have to be started, and
#    with blocks this small their start is what takes the time. They are no lighter for it: the hardware
#    deals in :term:`warps <warp>` of 32 threads, so 33 threads take the place of 64. Besides, most of them
#    begin where no line of memory begins, and their accesses are spread over one line more.

# %%
# .. rst-class:: part-next
#
# What the host pays
# ------------------
#
# Onward: :doc:`Launch overhead </gallery/first_kernels/launch_overhead>` is about the other end of a launch,
# the :term:`host`. Sideways: :doc:`Maximum on the CPU </gallery/compiled_cpu/maximum_cpu>` has the figures
# that this kernel has to beat, and :doc:`Know your GPU </gallery/measuring/know_your_gpu>` finds the
# ceilings. Used here: :func:`gpuguide.plot_heatmap`, :class:`gpuguide.Study`, :func:`gpuguide.claim`.
