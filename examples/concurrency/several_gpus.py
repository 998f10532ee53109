"""
Share work among several GPUs
=============================

What is a second GPU worth, and what changes in the code?
"""
# %%
# Give each GPU its part of the work, and launch on all of them before you wait for any: one loop in Python is
# enough. Work that keeps one GPU busy for :measured:`integral[one, 2**37].time` then runs
# :measured:`integral[two, 2**37].speedup(one)` as fast on two. Work that one GPU ends in
# :measured:`heat[one, 2**24].time` gains little or even loses, and shorter calls lose.
#
# .. headline:: Two GPUs pay for long work, and not for short calls
#
# .. drawn:: several_gpus
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import INK, KERNEL, MUTED, describe, style
#
#     work = {
#         "an integral": (integral, "two", 2**37),
#         "heat in a large plate": (heat, "two_direct", 2**30),
#         "heat in a small plate": (heat, "two_direct", 2**24),
#         "a short integral": (integral, "two", 2**24),
#     }
#     with style():
#         ax, words = plt.subplots(figsize=(6.4, 2.9))[1], []
#         for row, (name, (study, two, n)) in enumerate(work.items()):
#             gain, slower = study.speedup(two, "one", n), study.speedup("one", two, n)
#             label = str(gain) if gain.value >= 1 else f"{slower} slower"
#             words.append(f"{name}, {study.time('one', n)} on one GPU")
#             ax.text(0, row - 0.3, words[-1], va="bottom", color=INK)
#             words[-1] += f": {label}"
#             ax.plot([1, gain.value], [row, row], color=MUTED, linewidth=1)
#             ax.plot(gain.value, row, "o", color=KERNEL, markersize=8)
#             ax.annotate(
#                 label,
#                 (max(gain.value, 1), row),
#                 (9, 0),
#                 textcoords="offset points",
#                 va="center",
#                 color=INK,
#                 weight="bold",
#             )
#         for row in range(len(words)):
#             ax.plot([1, 1], [row - 0.25, row + 0.25], color=MUTED)
#         ax.set(xlim=(0, 2.4), ylim=(len(words) - 0.5, -0.8))
#         ax.set_xticks([0, 1, 2])
#         ax.xaxis.set_major_formatter(lambda gain, _: f"{gain:g}×")
#         ax.set_yticks([])
#         ax.spines["left"].set_visible(False)
#         ax.grid(visible=False)
#         ax.set_xlabel("speed of two GPUs against one")
#         describe(ax, f"How many times as fast two GPUs are as one. {'; '.join(words)}.")

# %%

# record: Copies between two GPUs, then three studies on one and on two, every result checked
import gpuguide as gg
import numpy as np
from gpuguide.topics.several_gpus import all_reduce, peers, stencil
from gpuguide.topics.several_gpus import study as several_gpus
from gpuguide.topics.several_gpus.kernels import HEAT_SOURCE

used, warning = peers.using()
for name, rates in {**used, **peers.rates()}.items():
    gg.fact(name, float(np.median(rates)), unit="B/s", samples=rates)
for name, number in {**peers.followers(), "links": peers.links()}.items():
    gg.fact(name, number, unit="1")
gg.fact("other_array", warning, unit="text")
integral = several_gpus.integral.run()
heat = stencil.heat.run()
sums = all_reduce.sums.run()

# %%
# Choose the GPU in a ``with`` block
# ----------------------------------
#
# CuPy works on one GPU at a time, the *current device*: new arrays are made there, and calls run there. GPUs
# are numbered from 0, and ``with`` makes another one the current device for a few lines. What you choose in
# CuPy holds for Numba's kernels, too.

import cupy as cp

n_gpus = cp.cuda.runtime.getDeviceCount()
gpus = [cp.cuda.Device(k) for k in range(n_gpus)]
x = cp.arange(5)
with gpus[-1]:  # the last GPU; with only one, the first
    y = cp.arange(5)
print(n_gpus, "found; x is on GPU", x.device.id, "and y on GPU", y.device.id)
print("now the current device is GPU", cp.cuda.Device().id)

try:
    cp.cuda.Device(n_gpus).use()  # there is no such GPU
except cp.cuda.runtime.CUDARuntimeError as error:
    print(error)

# %%
# .. try-it::
#
#    Start Python with ``CUDA_VISIBLE_DEVICES=1``. This process sees the second GPU alone, and calls it GPU 0.
#    This is how several processes share a machine, one GPU for each.

# %%
# Keep an array on the GPU that works on it
# -----------------------------------------
#
# CuPy also takes an array from another GPU's memory, with a warning, but reads it over the link between the
# two: doubling such an array takes :measured:`link_cost` as long. If you need it more than once, ``x.copy()``
# makes a copy on the current device.

# fold: An array of another GPU works, with a warning
import warnings

x.device.synchronize()  # nothing else makes one GPU wait for another
with gpus[-1], warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    z = x * 2  # x is on GPU 0
print(z, "is on GPU", z.device.id, "with", len(seen), "warning(s)")

# %%
# Launch on all, then wait
# ------------------------
#
# The area under 4 / (1 + x\ :sup:`2`) between 0 and 1 is pi. Cut it into a million slices, and give all GPUs
# equally many. A call launches work and does not wait for it, so the first loop ends at once, while all GPUs
# are at work. The second loop collects the sums, and Python waits only there.

import numpy as np

INTEGRATE = (
    "float64 left, int64 points, float64 step",
    "float64 area",
    """
    double sum = 0;
    for (int k = 0; k < points; k++) {
        double x = left + (k + 0.5) * step;
        sum += 4 / (1 + x * x);
    }
    area = sum * step;
    """,
    "integrate",
)
integrate = cp.ElementwiseKernel(*INTEGRATE)


def pi_on(gpus, n=2**20, points=2**12):
    """Cut the area into n slices, and give each GPU as many of them."""
    sums = []
    for k, gpu in enumerate(gpus):
        with gpu:
            left = cp.arange(n * k // len(gpus), n * (k + 1) // len(gpus)) / n
            sums.append(integrate(left, points, 1 / n / points).sum())
    total = 0.0
    for gpu, part in zip(gpus, sums, strict=True):
        with gpu:
            total += float(part)  # waits for this GPU
    return total


print("one GPU: ", pi_on(gpus[:1]))
print("all GPUs:", pi_on(gpus))
print("NumPy:   ", np.pi)

# %%
# What goes wrong most often is a wait in the first loop. With ``float``, ``print`` or ``get`` there, each
# GPU begins only when the one before it is done, and two are as slow as one.
#
# Another GPU pays only if the work lasts. In the first chart, the long integral has 137 billion points and
# gains most; the short one has 17 million, and takes longer on two GPUs than on one. We think that this is
# the time of Python, which makes its calls for one GPU after the other. :evidence:`opinion`
#
# Most programs need no more than this, and you can stop here. The other parts are for programs whose GPUs
# :ref:`copy arrays <several-gpus-copy>`, :ref:`exchange edges <several-gpus-edges>` or
# :ref:`need one sum <several-gpus-sum>`.
#
# .. kernel:: gpuguide.topics.several_gpus.study
#    :names: areas_of, shared
#    :fold: What is timed

# %%
# .. _several-gpus-copy:
#
# Copy from GPU to GPU
# --------------------
#
# Do not copy by way of the host, not even with pinned memory: ``x.copy()`` goes directly from one GPU to the
# other if they have *peer access*, which lets each reach the other's memory. CuPy switches that on by itself;
# ``cp.cuda.runtime.deviceCanAccessPeer(0, 1)`` says whether the machine has it.
#
# .. headline:: A direct copy is many times as fast as one through the host

# draw
from gpuguide.charts.shapes import plot_values
from gpuguide.charts.style import CUPY

ways = {
    "directly: x.copy()": "direct",
    "the same without peer access": "staged",
    "through pinned memory of the host": "pinned",
    "through pageable memory of the host": "pageable",
}
speeds = {words: facts[name] for words, name in ways.items()}
_ = plot_values(speeds, "speed of copies of 1 GiB from one GPU to another", colour=CUPY)

# %%
# .. dropdown:: What the link can carry
#
#    GPU 0 has :measured:`links` NVLinks, which together carry at most :measured:`link_peak` of data each
#    way. A direct copy of 1 GiB reaches :measured:`copy_share` of that, and both ways at once
#    :measured:`both_ways` together. Within the memory of GPU 0, a copy, which reads and writes each byte,
#    runs at :measured:`within`.
#
# .. kernel:: gpuguide.topics.several_gpus.peers
#    :names: rates, seconds, peer_access
#    :fold: How the copies are timed

# %%
# .. _several-gpus-edges:
#
# Exchange edges between neighbours
# ---------------------------------
#
# Sometimes the parts depend on each other. In each step of the heat equation, a cell of a plate moves towards
# the mean temperature of its four neighbours. Each GPU has a slab of the plate, and before each step it
# fetches the rows above and below its own from the slabs next to it. Such a rim of borrowed cells is called a
# *halo*.
#
# .. headline:: Each slab borrows one row from its neighbour
#
# .. drawing:: several_gpus
#
#     Two slabs of four rows. The last row of the upper one, on GPU 0, goes to a borrowed row above the lower
#     one, on GPU 1. The first row of the lower one goes to a borrowed row below the upper one.
#
# Python must not wait here either: it runs ahead of the GPUs, and one :term:`event` for each slab keeps the
# order. After a step, ``stream.record()`` makes the event. Before another slab's stream fetches a row, it
# waits for it with ``stream.wait_event(neighbour.done)``. No edge is overwritten too early: what is fetched
# before one step is overwritten in the next one, and before that a slab waits for its neighbours again.
#
# .. kernel:: gpuguide.topics.several_gpus.kernels
#    :names: HEAT_SOURCE
#    :fold: The kernel for one step of a slab, in CUDA C++

# fold: The whole program: slabs that fetch edges and wait by events
heat_kernel = cp.RawKernel(HEAT_SOURCE, "heat")


class Slab:
    """Some rows of the plate on one GPU, and copies of its neighbours' edges."""

    def __init__(self, gpu, rows, columns):
        with gpu:
            self.gpu, self.stream = gpu, cp.cuda.Stream(non_blocking=True)
            self.done = self.stream.record()  # an event
            self.now, self.then = cp.zeros((2, rows, columns), cp.float32)
            self.above, self.below = cp.zeros((2, columns), cp.float32)
            gpu.synchronize()

    def fetch(self, edge, neighbour, row):
        self.stream.wait_event(neighbour.done)
        there = neighbour.now[row]
        edge.data.copy_from_device_async(there.data, there.nbytes, self.stream)

    def step(self):
        rows, columns = self.now.shape
        blocks = (columns + 511) // 512, (rows + 15) // 16
        arrays = self.now, self.above, self.below, self.then
        heat_kernel(blocks, (128,), (*arrays, np.int32(rows), np.int32(columns // 4)))
        self.now, self.then = self.then, self.now
        self.done = self.stream.record()


def advance(slabs):
    for k, slab in enumerate(slabs):
        with slab.gpu:
            if k > 0:
                slab.fetch(slab.above, slabs[k - 1], -1)
            if k < len(slabs) - 1:
                slab.fetch(slab.below, slabs[k + 1], 0)
    for slab in slabs:
        with slab.gpu, slab.stream:
            slab.step()


rows, columns = 64, 256
slabs = [Slab(gpu, rows, columns) for gpu in gpus * 2]  # two on each GPU
whole = [Slab(gpus[0], len(slabs) * rows, columns)]
for plate in (slabs, whole):
    with plate[0].gpu, plate[0].stream as stream:
        plate[0].now[rows - 1] = 1  # the last row of the first slab is hot
        plate[0].done = stream.record()
    for _ in range(10):
        advance(plate)
    with plate[0].gpu:
        print(len(plate), "slab(s):", plate[0].now.get(stream=stream)[rows - 3 : rows, 3])

# %%
# Use large plates: the work grows with the area of a slab, the exchange only with the length of its edge.
# With 1.07 billion cells, 20 steps take :measured:`heat[one, 2**30].time` on one GPU and
# :measured:`heat[two, 2**30].time` on two. Where there is peer access, you can leave out the copy, as in the
# first chart: hand the kernel ``slabs[k - 1].now[-1]`` in place of ``slab.above``, and it reads the edge in
# the neighbour's memory, in about the same time.
#
# .. kernel:: gpuguide.topics.several_gpus.stencil
#    :names: edges, copied, direct
#    :fold: What is timed: edges copied and edges read

# %%
# .. _several-gpus-sum:
#
# Add up the arrays of all GPUs
# -----------------------------
#
# Often each GPU has an array, and all of them need the sum, an *all-reduce*. Leave that to NVIDIA's library
# NCCL, which does it in one call, with all GPUs sending to each other at the same time. CuPy finds it if
# ``nvidia-nccl-cu13`` is installed.

from cupy.cuda import nccl

arrays = []
for k, gpu in enumerate(gpus):
    with gpu:
        arrays.append(cp.full(1000, k + 1, cp.float32))

nccl_gpus = nccl.NcclCommunicator.initAll([gpu.id for gpu in gpus])
nccl.groupStart()
for gpu, one, x in zip(gpus, nccl_gpus, arrays, strict=True):
    with gpu:
        own, stream = x.data.ptr, cp.cuda.get_current_stream().ptr
        one.allReduce(own, own, x.size, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream)
nccl.groupEnd()
with gpus[-1]:
    print("GPU:  ", arrays[-1].get()[:3])
print("NumPy:", sum(range(1, n_gpus + 1)) * np.ones(3))

# %%
# Do not forget ``groupStart`` and ``groupEnd``: one process makes the calls for all GPUs here, and outside of
# a group the first call waits for the others, which are not made yet, and the program hangs.
#
# .. headline:: NCCL adds up two arrays of 1 GiB much sooner than copies to one GPU and back

# draw
from gpuguide.charts.shapes import plot_bars

_ = plot_bars(sums, ["nccl", "copies"], at=2**28)

# %%
# .. dropdown:: How near NCCL comes to what the links carry
#
#    NCCL's own tests count a *bus bandwidth*: the bytes that each GPU has to send, per second. With two GPUs
#    that is its whole array.
#
#    .. list-table::
#       :header-rows: 1
#
#       * - each array
#         - NCCL
#         - bus bandwidth
#       * - 4 KiB
#         - :measured:`sums[nccl, 2**10].time`
#         - :measured:`bus_10`
#       * - 1 MiB
#         - :measured:`sums[nccl, 2**18].time`
#         - :measured:`bus_18`
#       * - 16 MiB
#         - :measured:`sums[nccl, 2**22].time`
#         - :measured:`bus_22`
#       * - 1 GiB
#         - :measured:`sums[nccl, 2**28].time`
#         - :measured:`bus_28`
#
#    At 1 GiB it is :measured:`bus_share` of what the links carry each way. The switches between GPUs could
#    help by multicast; on this machine ``NCCL_NVLS_ENABLE=0`` turns that off, so it is not in these times.
#
# .. kernel:: gpuguide.topics.several_gpus.all_reduce
#    :names: by_copies, summed
#    :fold: What is timed: copies to GPU 0 and back

# %%
# More than one machine: Dask
# ---------------------------
#
# Where one machine is not enough, Dask gives each GPU a process, a *worker*, and hands parts of the work to
# them, over the network as well. On one machine, the loop above is the better choice. 34 billion points take
# both GPUs :measured:`workers[in_one_process, 2**35].time` in one process, and
# :measured:`workers[dask, 2**35].time` through Dask, which spends most of that on handing out the work.
# :doc:`Dask: GPUs on several hosts </gallery/concurrency/several_hosts>` says when it pays, and how it is
# started.

# fold: The integral through Dask
import os

from dask.distributed import Client, SubprocessCluster


def see_gpu(k):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(k)


def area(k, n_parts, n=2**20, points=2**12):
    integrate = cp.ElementwiseKernel(*INTEGRATE)
    left = cp.arange(n * k // n_parts, n * (k + 1) // n_parts) / n
    return float(integrate(left, points, 1 / n / points).sum())


cluster = SubprocessCluster(
    n_workers=n_gpus, threads_per_worker=1, dashboard_address=":0"
)
client = Client(cluster)
client.wait_for_workers(n_gpus, timeout=60)
for k, worker in enumerate(client.nthreads()):
    client.run(see_gpu, k, workers=[worker])
areas = client.map(area, range(n_gpus), n_parts=n_gpus)
print("Dask: ", sum(client.gather(areas)))

# %%

# record: The integral in one process and through Dask, and what a task costs
from gpuguide.topics.several_gpus import workers

through_dask = workers.through_dask.run()
for name, times in workers.costs().items():
    gg.fact(name, float(np.median(times)), unit="s", samples=times)

# %%

# fold: In the end, close both
client.close()
cluster.close()

# %%

# draw
link_peak = facts["links"].value * 25e9  # NVLink 4; its data sheet counts both ways
bus = 2**30 / sums.time("nccl", 2**28).value
gg.fact(
    "link_peak", link_peak, unit="B/s", note="NVLink 4: 25 GB/s of data a link, each way"
)
gg.fact(
    "link_cost",
    facts["used_here"].value / facts["used_there"].value,
    unit="ratio",
    note="1 GiB, doubled from the other GPU's memory / from its own",
)
gg.fact("copy_share", facts["direct"].value / link_peak, unit="share")
gg.fact("bus_share", bus / link_peak, unit="share")
for k in (10, 18, 22, 28):
    gg.fact(f"bus_{k}", 2**k * 4 / sums.time("nccl", 2**k).value, unit="B/s")
gg.claim(integral, "two", faster_than="one", at=2**37, by=1.7)
gg.claim(integral, "one", faster_than="two", at=2**24, by=1.2)
gg.claim(heat, "two_direct", faster_than="one", at=2**30, by=1.7)
gg.claim(heat, "two", faster_than="one", at=2**30, by=1.6)
gg.claim(sums, "nccl", faster_than="copies", at=2**28, by=1.5)
gg.claim(through_dask, "in_one_process", faster_than="dask", at=2**35, by=1.5)

# %%
# .. remember::
#
#    - Give each GPU its part of the data, launch on all, and only then wait: two GPUs do long work
#      :measured:`integral[two, 2**37].speedup(one)` as fast as one, and a call of
#      :measured:`integral[one, 2**24].time` more slowly.
#    - Copy an array to the GPU that reads it more than once: through the link a kernel reads at
#      :measured:`used_there`, from its own memory at :measured:`used_here`.

# %%
# Your turn: rows for every GPU
# -----------------------------
#
# .. exercise:: halo_exchange

# thumbnail
from gpuguide.charts import thumbnail

names = {"1 GPU": "one", "2 GPUs": "two"}
times = {label: integral.time(name, 2**37) for label, name in names.items()}
_ = thumbnail.bars(times, "time of an integral")

# %%
# Next
# ----
#
# Next: :doc:`Dask: GPUs on several hosts </gallery/concurrency/several_hosts>`, on workers and a scheduler.
# See also: :doc:`Overlap copies and work </gallery/moving_data/overlap>`, on streams and events of one GPU.
