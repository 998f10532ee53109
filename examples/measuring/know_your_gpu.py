"""
Know your GPU
=============

How fast can this GPU read, write and compute, and how do you find out?
"""
# %%
# On paper the memory of this GPU moves :measured:`peak_memory`; a terabyte is 10\ :sup:`12` bytes. Copying
# reaches :measured:`copy_share` of that, and :measured:`ceiling_copy` is what every kernel that copies should
# be held against.

# %%
# .. rst-class:: part-idea
#
# The path of the data
# --------------------
#
# Data lies in the memory of the :term:`host` or in the memory of the :term:`device`. Between them is
# :term:`PCIe`, the narrowest part of the path. On the device, all data passes through the :term:`L2 cache` on
# its way to the :term:`multiprocessors <multiprocessor>`, which do the arithmetic. What was used a moment ago
# may still be in the cache, and is then served from there.
#
# Each part of the path has a limit, and so has the arithmetic. The limit that a program reaches first decides
# how fast it is. So it pays to know the limits before a :term:`kernel`, a function for the GPU, is blamed or
# praised.
#
# .. drawing:: know_your_gpu
#
#     Host memory is joined to the device by one arrow each way, named PCIe. On the device, two arrows each
#     way join device memory to the L2 cache, and three each way join the cache to sixteen multiprocessors.

# %%
# .. rst-class:: part-bare
#
# Ask the driver
# --------------
#
# CuPy passes on what the driver knows of the GPU. A sum on the device, beside NumPy's, shows that it works.

import cupy as cp
import numpy as np

properties = cp.cuda.runtime.getDeviceProperties(0)
print("name:               ", properties["name"].decode())
print("multiprocessors:    ", properties["multiProcessorCount"])
print("threads on each:    ", properties["maxThreadsPerMultiProcessor"])
print("threads in a block: ", properties["maxThreadsPerBlock"])
print("threads in a warp:  ", properties["warpSize"])
print("memory:             ", round(properties["totalGlobalMem"] / 2**30, 1), "GiB")
print("L2 cache:           ", properties["l2CacheSize"] / 2**20, "MiB")
print(
    "sum of 0 to 999:    ",
    int(cp.arange(1000).sum()),
    "NumPy:",
    int(np.arange(1000).sum()),
)

# %%
# .. rst-class:: part-predict
#
# Peaks on paper
# --------------
#
# Two products give the physical peaks. Memory: its clock, times two transfers in each cycle, times the width
# of the bus in bytes. Arithmetic: multiprocessors, times the operations of each in a cycle, times their
# clock. A multiprocessor of this GPU has 128 ordinary units for FP32, which is ``float32``, and 64 for FP64.
# Each unit does one fused multiply-add a cycle, which counts as two operations. Beside them lie four *tensor
# cores*, which do nothing but multiply small matrices: of FP64, of FP32 rounded to TF32, and of the 16-bit
# formats FP16 and BF16. A program may come close to these peaks. None can beat them, so they expose a
# measurement that is wrong.

import gpuguide as gg

gpu = gg.require_gpu()
peak = gg.fact(
    "peak_memory",
    gpu.peak_memory_bandwidth,
    unit="B/s",
    note="memory clock x 2 x bus width",
)
units = ("fp32", "fp64", "fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
for unit in filter(gpu.peak_flops, units):  # not every GPU has all of them
    gg.fact(
        f"peak_{unit}",
        gpu.peak_flops(unit),
        unit="FLOP/s",
        note="multiprocessors x operations x clock",
    )
gg.fact("l2_size", gpu.l2_bytes, unit="B", note="size of the L2 cache")
print(
    f"memory: {gpu.memory_clock_hz / 1e6:.0f} MHz x 2 x {gpu.bus_width_bits // 8} bytes"
)
print(f"      = {peak.value / 1e12:.2f} TB/s")
per_cycle = gpu.peak_flops("fp32") / gpu.sm_count / gpu.sm_clock_hz
print(
    f"fp32:   {gpu.sm_count} multiprocessors x {per_cycle:.0f} x {gpu.sm_clock_hz / 1e9:.2f} GHz"
)
print(
    f"      = {gpu.peak_flops('fp32') / 1e12:.1f} TFLOP/s, fp64 {gpu.peak_flops('fp64') / 1e12:.1f} TFLOP/s"
)

# %%
# The driver's answers also bound a launch. A kernel is run by many threads, in :term:`blocks <block>` of at
# most 1024, and as many blocks as the data needs form the :term:`grid`. A matrix of 512 by 512 in blocks of
# 32 by 32 threads takes 16 by 16 blocks. One more row takes a whole row of blocks more, in which hardly a
# :term:`thread` has work. CUDA counts along a row first, so the shape (513, 512) has the grid (16, 17).

from gpuguide.machine.launch import grid_2d, occupancy

for shape in ((512, 512), (513, 512), (1080, 1920)):
    print(
        f"{shape[0]:4} x {shape[1]:4}: grid of {grid_2d(shape, (32, 32))} blocks of (32, 32) threads"
    )
held = occupancy(1024, 32, 0, gpu)
print(
    f"at once: {held.blocks_per_sm * gpu.sm_count} such blocks, {held.blocks_per_sm} on each multiprocessor"
)

# %%
# A grid may be far larger than what the GPU holds at once, which the last line tells. The 2048 threads of a
# multiprocessor make two blocks of 1024, if a thread needs no more than 32 :term:`registers <register>`. The
# other blocks wait for their turn.

# %%
# .. rst-class:: part-code
#
# One answer by three mixes of traffic
# ------------------------------------
#
# Does it matter whether bytes are read or written? To find out, three kernels produce the same array from
# different :term:`traffic`. In each, a thread takes four elements, a block's width apart;
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` shows what that gains.
#
# **Write.** Each number follows from its place, so that nothing has to be read.
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: write_kernel
#
# .. kernel:: gpuguide.topics.know_your_gpu.study
#    :names: write
#
# **Copy 1 : 1.** One array is read and one is written.
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: copy_kernel
#
# .. kernel:: gpuguide.topics.know_your_gpu.study
#    :names: copy
#
# **Read two, write one.** The answer is the larger of two arrays, and the second is nowhere larger than the
# first. Adding two vectors has this mix, too.
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: two_to_one_kernel
#
# .. kernel:: gpuguide.topics.know_your_gpu.study
#    :names: two_to_one
#
# **CuPy copyto** asks the driver to copy. It is the rival of our own copy.
#
# .. kernel:: gpuguide.topics.know_your_gpu.study
#    :names: copy_cupy
#
# **Read.** A kernel that only reads must still do something with what it has read, or the compiler removes
# it. This one adds up 4096 neighbours in each block, through :term:`shared memory`, and writes a single sum.
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: block_sums_kernel
#
# .. kernel:: gpuguide.topics.know_your_gpu.reading
#    :names: block_sums

# %%
# .. rst-class:: part-check
#
# Three ways, one result
# ----------------------
#
# All three ways, and CuPy's, have to give the same array before any is timed. Sizes are the bytes of one
# array. So the elements of ``bytes an element`` are bytes, too: one, two or three are moved for each byte of
# the array. Reading alone has another result, so it is a study of its own.

from gpuguide.topics.know_your_gpu import study as know_your_gpu, reading

study = know_your_gpu.study()
study

# %%
# .. rst-class:: part-measure
#
# From four kibibytes to a gibibyte
# ---------------------------------
#
# Small arrays fit into the cache, large ones do not. The sizes cover both. Writing alone moves fewer bytes
# than copying, and copying fewer than reading two arrays. So the times of large arrays must be in this order,
# which is claimed and checked.

results = study.run()
reads = reading.study().run()

# %%

# draw
gg.claim(results, "write", faster_than="copy", at=2**30)
gg.claim(results, "copy", faster_than="two_to_one", at=2**30)

# %%
# .. checks:: mixes
#
# The chart shows bytes over time, the :term:`bandwidth`: everything read and written, divided by the time of
# the kernel.

# draw
from gpuguide.charts.lines import plot_rate

ax = plot_rate(results)
ax.yaxis.set_major_formatter(lambda rate, _: f"{rate / 1000:g}")
_ = ax.set_ylabel("TB/s (kernel only, warm cache)")

# %%
# .. finding::
#
#    While everything fits into the cache of :measured:`l2_size`, the cache answers: at 2\ :sup:`23` bytes,
#    reading two and writing one shows :measured:`mixes[two_to_one, 2**23].rate`, more than the memory can
#    physically move. Beyond, the memory answers: copying settles at :measured:`mixes[copy, 2**30].rate`,
#    writing at :measured:`mixes[write, 2**30].rate`, reading two and writing one at
#    :measured:`mixes[two_to_one, 2**30].rate`.
#
# The cache is the one that the driver gave in MiB, 2\ :sup:`20` bytes each; here MB are millions. At small
# sizes all rates are low, because a kernel takes longer to start and to end than to move the bytes.
#
# Reading alone is drawn apart.

# draw
from gpuguide.charts.lines import plot_rate

ax = plot_rate(reads)
ax.yaxis.set_major_formatter(lambda rate, _: f"{rate / 1000:g}")
_ = ax.set_ylabel("TB/s (kernel only, warm cache)")

# %%
# .. finding::
#
#    Reading alone reaches :measured:`reads[read, 2**30].rate` from memory, and
#    :measured:`reads[read, 2**25].rate` for an array of 2\ :sup:`25` bytes, which fits into the cache.
#    Smaller arrays show less: at 2\ :sup:`23` bytes the kernel takes :measured:`reads[read, 2**23].time`,
#    and with hardly anything to read, at 2\ :sup:`12`, still :measured:`reads[read, 2**12].time`.
#
# .. results:: mixes
#
# .. results:: reads

# %%
# These simple kernels are not taken for the limit. At the start of each :term:`recording` many shapes of
# kernel are tried for each mix, and the best is kept. These are the :term:`ceilings <ceiling>` that all
# pages refer to. In the list, ``h2d`` is a copy over PCIe from host to device, ``d2h`` one back, and
# ``both_ways`` both at once. ``fp32`` and ``fp64`` are fused multiply-adds of the ordinary units. ``tf32``
# and the names that end in ``tensor`` are products of large matrices by cuBLAS on the tensor cores, checked
# before they are timed. ``launch`` is what an empty kernel takes among many in a graph, and ``launch_host``
# what the host needs to launch one.

# draw
from gpuguide.results.units import format_quantity

for item in ceilings.items:
    name = f"ceiling_{item.mix}"
    gg.fact(name, item.value, unit=item.unit, note="best kernel of several")
    print(f"{item.mix:12}{format_quantity(item.value, item.unit):>14}")
for mix, peak in (("copy", "peak_memory"), ("fp32", "peak_fp32"), ("fp64", "peak_fp64")):
    gg.fact(
        f"{mix}_share",
        facts[f"ceiling_{mix}"].value / facts[peak].value,
        unit="share",
        note="of the physical peak",
    )
_ = gg.fact(
    "over_pcie",
    facts["ceiling_copy"].value / facts["ceiling_h2d"].value,
    unit="ratio",
    note="device copy / host to device",
)

# %%
# .. rst-class:: part-reading
#
# Which limit is yours
# --------------------
#
# .. list-table:: Predicted on paper, and measured
#    :header-rows: 1
#
#    * -
#      - predicted
#      - measured
#    * - memory, copying
#      - :measured:`peak_memory`
#      - :measured:`ceiling_copy`
#    * - FP32, ordinary units
#      - :measured:`peak_fp32`
#      - :measured:`ceiling_fp32`
#    * - FP64, ordinary units
#      - :measured:`peak_fp64`
#      - :measured:`ceiling_fp64`
#    * - FP64, tensor cores
#      - :measured:`peak_fp64_tensor`
#      - :measured:`ceiling_fp64_tensor`
#    * - TF32, tensor cores
#      - :measured:`peak_tf32`
#      - :measured:`ceiling_tf32`
#    * - FP16, tensor cores
#      - :measured:`peak_fp16_tensor`
#      - :measured:`ceiling_fp16_tensor`
#    * - BF16, tensor cores
#      - :measured:`peak_bf16_tensor`
#      - :measured:`ceiling_bf16_tensor`
#
# The memory keeps :measured:`copy_share` of its promise, the ordinary units :measured:`fp32_share` in FP32
# and :measured:`fp64_share` in FP64. The measured column is that of the newest run. Whether FP16 or BF16 is
# ahead changed from one machine start to the next.
#
# Our copy kernel takes :measured:`mixes[copy, 2**30].time` for a gibibyte, CuPy's copy
# :measured:`mixes[copy_cupy, 2**30].time`. Of the ceiling of its own mix our kernel reaches
# :measured:`mixes[copy, 2**30].share`. This share is what the guide shows for every kernel that the memory
# limits: a kernel is held against what is possible with *its* mix of reads and writes.
#
# The narrow part is PCIe. A copy from :term:`pinned <pinned memory>` host memory reaches
# :measured:`ceiling_h2d`. While it brings one byte, a copy within the device moves :measured:`over_pcie` as
# many, half of them read and half written. If data comes over PCIe for a single pass over it, the way there
# takes far longer than the pass.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: a rate that is not the memory's
# -------------------------------------------------
#
# Copy an array of a mebibyte many times in a row, and call the result the bandwidth of the memory. The bytes
# fit into the cache, so at best the figure is one of the cache. Each copy is so short that its :term:`launch`
# takes longer. And the clock below does not wait.

# wrong: bytes of the cache count as the memory's, and the clock does not wait
from time import perf_counter

from gpuguide.measure.turns import beside_launches

a = gg.numba_view(cp.arange(2**18, dtype=cp.float32))
out = gg.numba_view(cp.empty(2**18, dtype=cp.float32))


def do_not_wait():
    cp.cuda.Device().synchronize()
    start = perf_counter()
    for _ in range(200):
        know_your_gpu.copy(a, a, out)
    return (perf_counter() - start) / 200


samples, alone = beside_launches(
    do_not_wait, lambda: know_your_gpu.copy(a, a, out), n_calls=200
)
wrong = gg.fact("wrong_time", float(np.median(samples)), unit="s", samples=samples)
gg.fact("wrong_rate", 2 * 2**20 / wrong.value, unit="B/s", note="bytes / wrong time")
_ = gg.fact("launch_alone", float(np.median(alone)), unit="s", samples=alone)

# %%

# draw
_ = gg.explained(
    "wrong_explained", [facts["launch_alone"].value], facts["wrong_time"].value
)

# %%
# The launch is timed alone beside it, in turns, and the copy on the device's own clock.

# draw
gg.plot_decomposition(
    {
        "the wrong clock": {"not taken apart": facts["wrong_time"].value},
        "launch, timed alone": {"launch": facts["launch_alone"].value},
        "work, timed alone": {"work": results.quantity("copy", 2**20, "time").value},
    }
)

# %%
# .. finding::
#
#    The wrong figure is :measured:`wrong_rate`, where the memory copies at :measured:`ceiling_copy`. The
#    clock saw :measured:`wrong_time` a call, and a launch alone takes :measured:`launch_alone`: it saw the
#    launch and nothing else. The copy itself takes :measured:`mixes[copy, 2**20].time` and runs in the cache.
#
# The right figure comes from an array that is much larger than the cache, and from a clock on the device.

# %%
# .. rst-class:: part-when-not-to
#
# When the numbers do not matter
# ------------------------------
#
# A ceiling helps only where a kernel comes near one. At four kibibytes the copy takes
# :measured:`mixes[copy, 2**12].time`, and hardly any of it goes into moving bytes: a kernel has to start, to
# wait for its first numbers, and to end. A program of such kernels needs fewer of them, not better memory
# access. And where the data comes over PCIe each time, the copies come first.

# %%
# .. rst-class:: part-on-your-gpu
#
# Same shapes, other numbers
# --------------------------
#
# The shapes of the curves carry over: a region of the cache, a region of the memory, and mixes that differ a
# little. The numbers do not. Consumer GPUs have less bandwidth and a far smaller share of FP64 units.
# ``gpuguide run know_your_gpu`` measures yours, and ``gpuguide doctor`` prints its properties.

# %%
# .. rst-class:: part-your-turn
#
# A grid for any shape
# --------------------
#
# The grids of this page came out of a function. Now write one yourself. It needs no GPU, only whole numbers
# and some care at the edges: where a shape is not a multiple of the block, and where the array is empty.
#
# .. exercise:: grid_arithmetic
#
# .. question:: How long should a kernel take that adds three arrays into a fourth?
#
#    It reads three numbers and writes one, so ``float32`` makes sixteen bytes an element. None of the mixes
#    above is this one. It lies between *read* and *read two, write one*: divide the bytes by each of these
#    two ceilings. If your kernel takes clearly longer than both say, look at the kernel first.
#
# .. question:: Why does no copy reach the physical peak of the memory?
#
#    The peak counts every clock cycle as one that delivers data. Real memory spends some of them on other
#    things: it refreshes its cells, opens a new row, and turns from reading to writing and back.

# %%
# .. rst-class:: part-next
#
# Use the limits
# --------------
#
# Onward: :doc:`Benchmark well </gallery/measuring/benchmark_well>` uses a peak to expose a wrong clock, and
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` brings a kernel near its ceiling. Sideways:
# :doc:`How to time a GPU </gallery/measuring/how_to_time>` has the clocks that were used here, and
# :doc:`First kernel </gallery/first_kernels/first_kernel>` begins with kernels. Used here:
# :func:`gpuguide.require_gpu`, :func:`gpuguide.machine_ceilings`, :func:`gpuguide.fact`.
