"""
Know your GPU
=============

How fast can this GPU read, write and compute, and how do you find out?
"""
# %%
# Compare your code with the limit of the unit that does its work, or of its mix of reads and writes. This GPU
# copies at :measured:`ceiling_copy`, :measured:`copy_share` of what its memory can do on paper. Its ordinary
# FP32 units reach :measured:`ceiling_fp32`, its tensor cores :measured:`ceiling_fp16_tensor` in FP16, in
# short bursts.

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

# record: The study of four mixes, and the peaks
import gpuguide as gg
from gpuguide.topics.know_your_gpu import study as know_your_gpu

results = know_your_gpu.study().run()
reads = know_your_gpu.reads_study().run()

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
# the ceiling. CuPy's ``copyto`` is as fast, with :measured:`mixes[copy_cupy, 2**30].time`.
#
# On the left of the chart all rates are low. A copy of 2\ :sup:`12` bytes takes
# :measured:`mixes[copy, 2**12].time`, and even an empty kernel without arguments takes
# :measured:`ceiling_launch`. A ceiling says nothing about such kernels.

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
# These are bursts of a few dozen products, and not what the GPU sustains. In the newest run the first of
# :measured:`burst_length` products in FP16 ran at :measured:`burst_first` and the last one at
# :measured:`burst_last`: we think that the GPU had come to its power limit. :evidence:`opinion`
# :doc:`Benchmark well </gallery/measuring/benchmark_well>` multiplies for longer, and shows power and clock.

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
# Of former runs no single samples are kept, so these are facts of the newest one.
fp16 = ceilings.get("fp16_tensor")
rates = [fp16.work / (ns / 1e9) for ns in fp16.samples_ns]
gg.fact("burst_first", rates[0], unit="FLOP/s", note="the first product")
gg.fact("burst_last", rates[-1], unit="FLOP/s", note="the last product")
_ = gg.fact("burst_length", len(rates), unit="1", note="products in a row")

# %%
# .. finding::
#
#    The memory reaches :measured:`copy_share` of its peak when copying. The ordinary units reach
#    :measured:`fp32_share` in FP32 and :measured:`fp64_share` in FP64, the tensor cores
#    :measured:`fp64_tensor_share` in FP64, :measured:`tf32_share` in TF32 and
#    :measured:`fp16_tensor_share` in FP16.

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
