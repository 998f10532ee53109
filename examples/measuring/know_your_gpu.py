"""
Know your GPU
=============

How fast can this GPU read, write and compute, and how do you find out?
"""
# %%
# Compare your code with the limit of the unit that does its work, or of its mix of reads and writes. This GPU
# copies at :measured:`ceiling_copy`, :measured:`copy_share` of what its memory can do on paper. Its ordinary
# FP32 units reach :measured:`ceiling_fp32`. Its tensor cores reach :measured:`ceiling_fp16_tensor` in FP16 in
# short bursts, and :measured:`sustained_fp16_tensor` in long runs on random numbers.

# %%
# .. csv-table:: What this GPU can do
#    :header: limit | on paper | measured
#    :delim: |
#
#    memory, reading | :measured:`peak_memory` | :measured:`ceiling_read`
#    memory, writing | :measured:`peak_memory` | :measured:`ceiling_write`
#    memory, copying | :measured:`peak_memory` | :measured:`ceiling_copy`
#    memory, 2 reads, 1 write | :measured:`peak_memory` | :measured:`ceiling_two_to_one`
#    FP32, ordinary units | :measured:`peak_fp32` | :measured:`ceiling_fp32`
#    FP64, ordinary units | :measured:`peak_fp64` | :measured:`ceiling_fp64`
#    FP64, tensor cores | :measured:`peak_fp64_tensor` | :measured:`ceiling_fp64_tensor`
#    TF32, tensor cores | :measured:`peak_tf32` | :measured:`ceiling_tf32`
#    FP16, tensor cores, in a burst | :measured:`peak_fp16_tensor` | :measured:`ceiling_fp16_tensor`

# %%
# Properties and peaks from the driver
# ------------------------------------
#
# The driver knows what the GPU is made of. Multiply some of its answers, and you have the peaks on paper,
# at the highest clock. A data sheet may take a lower one.

import cupy as cp
import numpy as np
from numba import cuda

gpu = cp.cuda.Device().attributes
n_multiprocessors = gpu["MultiProcessorCount"]
print("multiprocessors:       ", n_multiprocessors)
print("threads on each:       ", gpu["MaxThreadsPerMultiProcessor"])
print("threads in a block:    ", gpu["MaxThreadsPerBlock"])
print("threads in a warp:     ", gpu["WarpSize"])
print("L2 cache:              ", gpu["L2CacheSize"] / 2**20, "MiB")
print("memory:                ", round(cp.cuda.Device().mem_info[1] / 2**30, 1), "GiB")

# Two transfers in each cycle of the memory's clock, over the whole width of the bus.
memory_peak = 2 * gpu["MemoryClockRate"] * 1000 * gpu["GlobalMemoryBusWidth"] / 8
# 128 units in each multiprocessor, on some GPUs 64; a multiply-add counts as two operations.
fp32_peak = n_multiprocessors * 128 * 2 * gpu["ClockRate"] * 1000
print(f"memory, on paper:       {memory_peak / 1e12:.2f} TB/s")
print(f"FP32 units, on paper:   {fp32_peak / 1e12:.1f} TFLOP/s")


@cuda.jit
def write(out):
    """Each thread writes four numbers, a block's width apart."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    for _ in range(4):
        if i < out.size:
            out[i] = i & (2**24 - 1)  # float32 holds whole numbers up to there
        i += width


out = cp.empty(2**28, dtype=cp.float32)
write[(out.size + 1023) // 1024, 256](out)
print("GPU:", out[-2:], "  NumPy:", np.arange(2**28 - 2, 2**28) % 2**24)
print(f"at the peak, writing takes {out.nbytes / memory_peak * 1e6:.1f} us at least")

# %%
# .. try-it::
#
#    Write ``2**18`` for each ``2**28``. The bound shrinks with the array, until even an empty kernel takes
#    longer. A bound from bytes says something about large arrays only.
#
# .. drawing:: know_your_gpu
#
#     Host memory is joined to the device by one arrow each way, named PCIe. On the device, two arrows each
#     way join device memory to the L2 cache, and three each way join the cache to sixteen multiprocessors.
#
# All data passes through the :term:`L2 cache` on its way to the :term:`multiprocessors <multiprocessor>`.
# Each part of the way has a limit of its own, and so has the arithmetic. The first one that a program reaches
# decides how fast it is.

# %%
# Grid and block sizes from the shape of an array
# -----------------------------------------------
#
# The driver's answers bound a launch, too. A block has at most 1024 threads, and the grid has as many blocks
# as the array needs, rounded up. CUDA names x first. Let it run along a row, which is NumPy's last axis.

for rows, columns in ((512, 512), (513, 512), (1080, 1920)):
    blocks_per_grid = ((columns + 31) // 32, (rows + 31) // 32)
    print(f"{rows:4} x {columns:4}: grid of {blocks_per_grid} blocks of (32, 32) threads")
at_once = n_multiprocessors * (gpu["MaxThreadsPerMultiProcessor"] // 1024)
print("on the GPU at once:", at_once, "of these blocks")

# %%
# One row more than 512 takes one more row of blocks, in which one thread out of 32 has work. A grid may be
# far larger than what fits at once. The other blocks wait for their turn.

# %%

# record: The study of four mixes, the peaks, the levels of memory, and long runs
import gpuguide as gg
from gpuguide.topics.know_your_gpu import levels, sustained
from gpuguide.topics.know_your_gpu import study as know_your_gpu

results = know_your_gpu.mixes.run()
reads = know_your_gpu.reads.run()

info = gg.require_gpu()
gg.fact(
    "peak_memory",
    info.peak_memory_bandwidth,
    unit="B/s",
    note="memory clock x 2 x bus width",
)
gg.fact("l2_size", info.l2_bytes, unit="B", note="size of the L2 cache")
units = ("fp32", "fp64", "fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
for unit in filter(info.peak_flops, units):  # not every GPU has all of them
    note = "multiprocessors x operations x clock"
    gg.fact(f"peak_{unit}", info.peak_flops(unit), unit="FLOP/s", note=note)
gg.fact("clock_highest", info.sm_clock_hz, unit="Hz", note="as the driver gives it")
gg.fact(
    "peak_shared",
    128 * info.sm_count * info.sm_clock_hz,
    unit="B/s",
    note="128 bytes x multiprocessors x clock",
)

for name, samples in levels.measure().items():
    unit = "s" if name.startswith("latency") else "B/s"
    gg.fact(name, float(np.median(samples)), unit=unit, samples=samples)

long_runs = {name: sustained.sustain(name) for name in sustained.WORK}
for kind in ("ends", "rates"):
    gg.keep(kind, [run[kind] for run in long_runs.values()])
for name, run in long_runs.items():
    unit = "B/s" if name == "copy" else "FLOP/s"
    second_half = run["rates"][len(run["rates"]) // 2 :]
    note = "the first of many equal parts of a long run, after a rest"
    gg.fact(f"burst_{name}", run["rates"][0], unit=unit, note=note)
    note = "median of the second half of a long run"
    gg.fact(f"sustained_{name}", float(np.median(second_half)), unit=unit, note=note)
    gg.fact(f"clock_{name}", run["clock"], unit="Hz", note="as the driver gives it")
    gg.fact(f"power_{name}", run["power"], unit="W", note="as the driver gives it")
    gg.fact(f"held_{name}", run["held"], unit="text", note="as the driver gives it")
shortest = min(run["ends"][-1] for run in long_runs.values())
gg.fact("shortest_run", shortest, unit="s", note="the shortest of the long runs")
_ = gg.fact("power_limit", info.power_limit_w, unit="W", note="as the driver gives it")

# %%
# Memory bandwidth depends on the mix of reads and writes
# -------------------------------------------------------
#
# *Write*, above, reads nothing. *Copy* reads one array and writes one.
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: copy
#
# Two more kernels have other mixes. *Read two, write one* takes the larger of each pair; adding two vectors
# has this mix, too. *Read* adds up 4096 neighbours in each block and writes a single sum. A kernel that used
# nothing of what it reads would be empty: the compiler removes such loads.
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: two_to_one, read
#    :fold: Read two, write one; and read

# draw
from gpuguide.charts.lines import plot_rate

ax = plot_rate(results, variants=["write", "copy", "two_to_one"])
ax.yaxis.set_major_formatter(lambda rate, _: f"{rate / 1000:g}")
_ = ax.set_ylabel("TB/s (kernel only, warm cache)")

# %%
# .. finding::
#
#    Arrays of 2\ :sup:`23` bytes fit into the cache of :measured:`l2_size`, and *read two, write one* moves
#    :measured:`mixes[two_to_one, 2**23].rate`, more than the memory can deliver.
#    Arrays of 2\ :sup:`30` do not fit:
#    :measured:`mixes[write, 2**30].rate` writing, :measured:`mixes[copy, 2**30].rate` copying,
#    :measured:`mixes[two_to_one, 2**30].rate` reading two and writing one.
#
# Reading alone reaches :measured:`reads[read, 2**30].rate`, about as much as writing, and more than a mix of
# both. So there is no single bandwidth of the memory. The guide tries many shapes of kernel for each mix, at
# the start of each recording, and keeps the best. These are the :term:`ceilings <ceiling>` in the table
# above. Compare each kernel with the ceiling of *its* mix: the copy above takes
# :measured:`mixes[copy, 2**30].time` for 2\ :sup:`30` bytes, which is :measured:`mixes[copy, 2**30].share` of
# the ceiling. CuPy's ``copyto`` reaches :measured:`mixes[copy_cupy, 2**30].share` of it, too.
#
# On the left of the chart all rates are low. A copy of 2\ :sup:`12` bytes takes
# :measured:`mixes[copy, 2**12].time`, and even an empty kernel without arguments takes
# :measured:`ceiling_launch`. A ceiling says nothing about such kernels.

# %%
# Nearer memory is faster, and answers sooner
# -------------------------------------------
#
# A kernel may read data again and again, from the L2 cache or from :term:`shared memory`. For the bandwidth,
# all multiprocessors read as fast as they can. For the *latency*, one thread alone follows pointers: each
# load brings the address of the next one, which cannot begin before. The addresses come in random order.
#
# .. list-table:: Bandwidth and latency
#    :header-rows: 1
#
#    * - read from
#      - on paper
#      - all multiprocessors
#      - one load
#      - in clock cycles
#    * - shared memory
#      - :measured:`peak_shared`
#      - :measured:`bandwidth_shared`
#      - :measured:`latency_shared`
#      - :measured:`cycles_shared`
#    * - L2 cache
#      -
#      - :measured:`bandwidth_l2`
#      - :measured:`latency_l2`
#      - :measured:`cycles_l2`
#    * - memory
#      - :measured:`peak_memory`
#      - :measured:`ceiling_read`
#      - :measured:`latency_memory`
#      - :measured:`cycles_memory`
#
# In one cycle the shared memory of a multiprocessor delivers 128 bytes. The cycles are those of the
# highest clock, :measured:`clock_highest`.
#
# Bandwidth times latency is what must be on its way to keep the memory busy: :measured:`bytes_on_the_way`
# for the memory of this GPU. One thread that waits for each load has eight bytes on their way. So a kernel
# needs many threads, or several loads in each.
#
# .. kernel:: gpuguide.topics.know_your_gpu.levels
#    :names: chase_source, read_source
#    :fold: Following pointers, and reading again and again

# draw
for level in ("shared", "l2", "memory"):
    cycles = facts[f"latency_{level}"].value * facts["clock_highest"].value
    gg.fact(f"cycles_{level}", round(cycles), unit="1", note="latency x highest clock")
_ = gg.fact(
    "bytes_on_the_way",
    ceilings.get("read").value * facts["latency_memory"].value,
    unit="B",
    note="ceiling of reading x latency of memory",
)

# %%
# Result: tensor cores have peaks of their own
# --------------------------------------------
#
# A peak bounds one unit and no other. On paper the ordinary FP64 units, 64 in each multiprocessor, reach
# :measured:`peak_fp64`. The product of two large FP64 matrices runs at :measured:`ceiling_fp64_tensor`, and
# that is no mistake: cuBLAS computes it on the *tensor cores*, units that do nothing but multiply small
# matrices. Their peak for FP64 is :measured:`peak_fp64_tensor`. A rate above the peak of the unit that did
# the work is always a mistake.
#
# In one clock cycle the tensor cores of a multiprocessor of this GPU do 128 multiply-adds in FP64, 1024 in
# TF32 and 2048 in FP16. Put these in the place of the 128 FP32 units above, and you have their peaks.
#
# TF32 is FP32 with its fraction rounded to ten bits. FP16 and BF16 have sixteen bits in all. These two are
# equally fast on paper, and measured, too: BF16 reaches :measured:`ceiling_bf16_tensor`, FP16
# :measured:`ceiling_fp16_tensor`.
#
# These are short bursts, on small whole numbers. What the GPU sustains is less.

# draw
from gpuguide.charts.shapes import plot_ratios

for item in ceilings.items:
    gg.fact(
        f"ceiling_{item.mix}", item.value, unit=item.unit, note="best kernel of several"
    )
units = ("fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
limits = {
    "reading": "read",
    "writing": "write",
    "copying": "copy",
    "2 reads, 1 write": "two_to_one",
}
limits |= {"FP32 units": "fp32", "FP64 units": "fp64"}
limits |= {f"{unit[:4].upper()} tensor cores": unit for unit in units}
shares = {}
for label, name in limits.items():
    peak = facts.get(f"peak_{name}", facts["peak_memory"])
    share = facts[f"ceiling_{name}"].value / peak.value
    shares[label] = gg.fact(
        f"{name}_share", share, unit="share", note="of the peak on paper"
    )
_ = plot_ratios(shares, "share of the peak")

# %%
# .. finding::
#
#    The memory reaches :measured:`copy_share` of its peak when copying. The ordinary units reach
#    :measured:`fp32_share` in FP32 and :measured:`fp64_share` in FP64, the tensor cores
#    :measured:`fp64_tensor_share` in FP64, :measured:`tf32_share` in TF32 and
#    :measured:`fp16_tensor_share` in FP16.

# %%
# What the GPU sustains: clock and power
# --------------------------------------
#
# This board may draw :measured:`power_limit`. At its limit a GPU lowers its clock. So here each kind of work
# begins after a rest and goes on for at least :measured:`shortest_run`, on random numbers; only the
# multiply-adds of the FP32 units are on whole numbers. The burst is the beginning, less than a hundredth of
# the run.
#
# .. list-table:: Long runs
#    :header-rows: 1
#
#    * - work
#      - burst
#      - sustained
#      - clock
#      - power
#      - held back by
#    * - copying
#      - :measured:`burst_copy`
#      - :measured:`sustained_copy`
#      - :measured:`clock_copy`
#      - :measured:`power_copy`
#      - :measured:`held_copy`
#    * - FP32, ordinary units
#      - :measured:`burst_fp32`
#      - :measured:`sustained_fp32`
#      - :measured:`clock_fp32`
#      - :measured:`power_fp32`
#      - :measured:`held_fp32`
#    * - FP64, tensor cores
#      - :measured:`burst_fp64_tensor`
#      - :measured:`sustained_fp64_tensor`
#      - :measured:`clock_fp64_tensor`
#      - :measured:`power_fp64_tensor`
#      - :measured:`held_fp64_tensor`
#    * - FP16, tensor cores
#      - :measured:`burst_fp16_tensor`
#      - :measured:`sustained_fp16_tensor`
#      - :measured:`clock_fp16_tensor`
#      - :measured:`power_fp16_tensor`
#      - :measured:`held_fp16_tensor`
#
# Clock, power and what holds the clock back are the driver's answers during the second half. Its power is the
# mean over the last second.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import SERIES, describe

runs = ("copying", "FP32 units", "FP64 tensor cores", "FP16 tensor cores")
figure, ax = plt.subplots()
words = []
for i, name in enumerate(runs):
    ends, rates = arrays["ends"][i], arrays["rates"][i]
    ax.plot(ends, rates / rates[0], color=SERIES[i], label=name)
    words.append(f"{name} ends at {rates[-1] / rates[0]:.2f}")
ax.set(xlabel="seconds of work", ylabel="rate / that of the burst", ylim=(0, None))
ax.legend(loc="lower right")
describe(ax, f"Rates over time, as shares of the burst: {'; '.join(words)}.")

# %%
# .. finding::
#
#    Products in FP16 run at :measured:`burst_fp16_tensor` in a burst and at :measured:`sustained_fp16_tensor`
#    in the end, with the clock at :measured:`clock_fp16_tensor`. Products in FP64 fall from
#    :measured:`burst_fp64_tensor` to :measured:`sustained_fp64_tensor`. Copies and the FP32 units keep their
#    rate: neither is held back.
#
# In FP16 even the burst stays below the ceiling of :measured:`ceiling_fp16_tensor`. The ceiling is that of
# another product: larger matrices, of small whole numbers, with a result in FP32. We have not tested which of
# these matters.
#
# .. kernel:: gpuguide.topics.know_your_gpu.sustained
#    :names: multiply_adds_source
#    :fold: The multiply-adds

# %%
# Which limit is yours: count operations per byte
# -----------------------------------------------
#
# Divide a ceiling of arithmetic by that of copying, and you have the operations per byte at which the two
# take equally long: :measured:`ridge_fp32` for the FP32 units, :measured:`ridge_fp64` for FP64,
# :measured:`ridge_fp16_tensor` for FP16 on tensor cores. Adding two vectors in FP32 does one operation for
# twelve bytes, so its limit is the memory.
#
# If the data comes from the host, look at :term:`PCIe` first. Between :term:`pinned memory` and the GPU it
# carries :measured:`ceiling_h2d` there and :measured:`ceiling_d2h` back. The rate at which a copy on the GPU
# reads and writes, both together, is :measured:`over_pcie` the rate to the GPU.

# draw
for unit in ("fp32", "fp64", "fp16_tensor"):
    ridge = facts[f"ceiling_{unit}"].value / facts["ceiling_copy"].value
    gg.fact(
        f"ridge_{unit}",
        ridge,
        unit="1",
        note="operations per byte: ceiling / copy ceiling",
    )
pcie = facts["ceiling_copy"].value / facts["ceiling_h2d"].value
gg.fact("over_pcie", pcie, unit="ratio", note="device copy / host to device")
gg.claim(results, "write", faster_than="copy", at=2**30)
gg.claim(results, "copy", share_at_least=0.95, at=2**30)

# %%
# Your turn: a grid for any shape
# -------------------------------
#
# Write the function that works out a grid, for arrays of one to three axes. It needs no GPU, only whole
# numbers, and care where a shape is no multiple of the block, where an array is empty, and at CUDA's limits.
#
# .. exercise:: grid_arithmetic

# %%
# Next
# ----
#
# Onward: :doc:`Benchmark well </gallery/measuring/benchmark_well>` uses these limits to expose wrong figures.
# Sideways: :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` brings a kernel near its ceiling.
