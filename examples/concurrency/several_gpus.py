"""
Several GPUs
============

What is a second GPU worth, and what changes in the code?
"""
# %%
# Two GPUs do long work :measured:`integral[two, 2**37].speedup(one)` as fast as one if it falls into parts,
# and :measured:`heat[two_direct, 2**30].speedup(one)` if these exchange edges in every step. Short calls gain
# nothing. Give each GPU its part of the data, launch on all before you wait for any, and let them copy
# directly.

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
# **Two GPUs pay for long work, and not for short calls.**

# draw
from gpuguide.charts.shapes import plot_ratios

compared = {
    "large integral": integral.speedup("two", "one", 2**37),
    "large stencil": heat.speedup("two_direct", "one", 2**30),
    "large stencil, copied": heat.speedup("two", "one", 2**30),
    "small stencil": heat.speedup("two_direct", "one", 2**24),
    "small integral": integral.speedup("two", "one", 2**24),
}
_ = plot_ratios(
    {
        words: gg.fact(f"worth_{k}", ratio.value, unit="ratio")
        for k, (words, ratio) in enumerate(compared.items())
    },
    "two GPUs against one",
)

# %%
# .. finding::
#
#    Large: 137 billion points of an integral, which take one GPU :measured:`integral[one, 2**37].time`, and
#    20 steps of a stencil on 1.07 billion cells, :measured:`heat[one, 2**30].time`. Small: 17 million of
#    either, :measured:`integral[one, 2**24].time` and :measured:`heat[one, 2**24].time`.

# %%
# The current device
# ------------------
#
# CuPy works on one GPU at a time, the *current device*. New arrays are made there, and calls run there. GPUs
# are numbered from 0, and ``with`` makes another one the current device for a few lines.

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
#
# After the error the current device is the same as before. Numba has a current device, too: inside ``with
# cuda.gpus[1]:`` CuPy is on GPU :measured:`cupy_follows`, and inside ``with cp.cuda.Device(1):`` Numba is on
# GPU :measured:`numba_follows`.

# %%
# An array of the other GPU
# -------------------------
#
# Which GPU computes, if the array is in the memory of another one? The current device does, and the result is
# there as well.

import warnings

x.device.synchronize()  # nothing else makes one GPU wait for another
with gpus[-1], warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    z = x * 2  # x is on GPU 0
print(z, "is on GPU", z.device.id, "with", len(seen), "warning(s)")

# %%
# This was an error once. Today the current device reads the other one's memory over the link between them,
# and CuPy warns: ":measured:`other_array`" A GPU doubles the numbers of an array in its own memory at
# :measured:`used_here`, and those in the memory of the other GPU at :measured:`used_there`. So copy an array
# that you need more than once: ``x.copy()`` makes the copy on the current device.

# %%
# Copies: directly, or by way of the host
# ---------------------------------------
#
# A copy from one GPU to another goes directly if the two have *peer access* to each other's memory.
# ``cp.cuda.runtime.deviceCanAccessPeer(0, 1)`` says whether they can, and CuPy then allows it before the
# first copy. These are copies of 1 GiB:
#
# .. list-table::
#    :header-rows: 1
#
#    * - copy
#      - bytes per second
#    * - within the memory of GPU 0, which reads and writes each byte
#      - :measured:`within`
#    * - from GPU 0 to GPU 1, directly
#      - :measured:`direct`
#    * - both ways at once, together
#      - :measured:`both_ways`
#    * - from GPU 0 to GPU 1 without peer access, by the driver
#      - :measured:`staged`
#    * - through :term:`pinned memory` of the host, one way after the other
#      - :measured:`pinned`
#    * - through :term:`pageable memory` of the host
#      - :measured:`pageable`
#
# The link takes both directions at once. GPU 0 has :measured:`links` NVLinks, which together carry at most
# :measured:`link_peak` of data each way; a direct copy reaches :measured:`copy_share` of that.
#
# .. kernel:: gpuguide.topics.several_gpus.peers
#    :names: rates, seconds, peer_access
#    :fold: How the copies are timed

# %%
# Work that falls into parts
# --------------------------
#
# The area under 4 / (1 + x^2) between 0 and 1 is pi. Each of a million threads has a slice of it, so GPUs can
# share the slices. A call only launches the work and does not wait for it. So one loop in one thread of
# Python is enough to keep all GPUs at work.

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
# Nothing in the first loop may wait. With ``float`` there, each GPU would begin only when the one before it
# is done.
#
# 137 billion points take :measured:`integral[one, 2**37].time` on one GPU and
# :measured:`integral[two, 2**37].time` on two. With 17 million points it is
# :measured:`integral[one, 2**24].time` and :measured:`integral[two, 2**24].time`. At the pace of the larger
# integral one GPU would need only :measured:`at_that_pace` for them. We think that the rest is the time that
# the host takes for its calls, and it makes them for one GPU after the other. :evidence:`opinion`
#
# .. kernel:: gpuguide.topics.several_gpus.study
#    :names: areas_of, shared
#    :fold: What is timed

# %%
# A stencil: neighbours exchange their edges
# ------------------------------------------
#
# In each step of the heat equation, a cell of a plate moves towards the mean temperature of its four
# neighbours. Each GPU has a slab of the plate, and for its first and last row it needs a row of the slab
# above or below. So before each step it fetches them. Such a rim of borrowed cells is called a *halo*.
#
# .. drawing:: several_gpus
#
#     Two slabs of four rows. The last row of the upper one, on GPU 0, goes to a borrowed row above the lower
#     one, on GPU 1. The first row of the lower one goes to a borrowed row below the upper one.
#
# .. kernel:: gpuguide.topics.several_gpus.kernels
#    :names: HEAT_SOURCE
#
# Python runs ahead of the GPUs here. One :term:`event` per slab keeps the order: a neighbour's stream waits
# for it before it fetches. It also keeps an edge from being overwritten too early: what is fetched before one
# step is overwritten in the next, and before that a slab waits for its neighbours' events again.

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
# A kernel can also read its neighbour's edge in place, without a copy: give it ``slabs[k - 1].now[-1]``
# instead of ``slab.above``. This needs peer access.
#
# .. list-table:: 20 steps on a plate
#    :header-rows: 1
#
#    * - cells
#      - one GPU
#      - two, edges copied
#      - two, edges read in place
#    * - 1.07 billion
#      - :measured:`heat[one, 2**30].time`
#      - :measured:`heat[two, 2**30].time`
#      - :measured:`heat[two_direct, 2**30].time`
#    * - 17 million
#      - :measured:`heat[one, 2**24].time`
#      - :measured:`heat[two, 2**24].time`
#      - :measured:`heat[two_direct, 2**24].time`
#
# The work grows with the area of a slab, the exchange only with the length of its edge. On the large plate
# two GPUs are :measured:`heat[two, 2**30].speedup(one)` as fast as one if they copy the edges, and
# :measured:`heat[two_direct, 2**30].speedup(one)` if they read them.
#
# .. kernel:: gpuguide.topics.several_gpus.stencil
#    :names: edges, copied, direct
#    :fold: What is timed: edges copied and edges read

# %%
# A sum for all: NCCL
# -------------------
#
# Often each GPU has an array, and all of them need the sum, an *all-reduce*. NVIDIA's library NCCL does that
# in one call, in which all GPUs send to each other at the same time. CuPy finds it if ``nvidia-nccl-cu13`` is
# installed.

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
# One process makes the calls of all GPUs, so they must form a group. Outside of one, the first call waits for
# the others, which this process has not made yet, and hangs.

# draw
_ = gg.plot_time(sums)

# %%
# .. finding::
#
#    Two arrays of 1 GiB are added up in :measured:`sums[nccl, 2**28].time` by NCCL, and in
#    :measured:`sums[copies, 2**28].time` by copies to GPU 0 and back. For arrays of 4 KiB it is
#    :measured:`sums[nccl, 2**10].time` and :measured:`sums[copies, 2**10].time`.
#
# NCCL's own tests count a *bus bandwidth*: the bytes that each GPU has to send, per second. With two GPUs
# that is its whole array.
#
# .. list-table::
#    :header-rows: 1
#
#    * - each array
#      - NCCL
#      - bus bandwidth
#    * - 4 KiB
#      - :measured:`sums[nccl, 2**10].time`
#      - :measured:`bus_10`
#    * - 1 MiB
#      - :measured:`sums[nccl, 2**18].time`
#      - :measured:`bus_18`
#    * - 16 MiB
#      - :measured:`sums[nccl, 2**22].time`
#      - :measured:`bus_22`
#    * - 1 GiB
#      - :measured:`sums[nccl, 2**28].time`
#      - :measured:`bus_28`
#
# At 1 GiB it is :measured:`bus_share` of what the links carry each way. The switches between GPUs could help
# by multicast; on this machine ``NCCL_NVLS_ENABLE=0`` turns that off, so it is not in these times.
#
# .. kernel:: gpuguide.topics.several_gpus.all_reduce
#    :names: by_copies, summed
#    :fold: What is timed: copies to GPU 0 and back

# %%
# The same integral through Dask
# ------------------------------
#
# With Dask, each GPU gets a process, a *worker*, and a scheduler hands them parts of the work, over the
# network as well. Before a worker uses CUDA for the first time, tell it which GPU it may see. Send it source
# and not a kernel: one that has run here holds addresses of this process, and the worker that gets it dies.

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
# 34 billion points take both GPUs :measured:`workers[in_one_process, 2**35].time` in one process,
# :measured:`workers[dask, 2**35].time` through Dask with one task per worker, and
# :measured:`workers[dask_16, 2**35].time` with 16. Most of that is Dask's own time: 17 million points, which
# are next to no work, take :measured:`workers[dask, 2**24].time` and
# :measured:`workers[dask_16, 2**24].time`. So give Dask few tasks that work for much longer than that, or
# take it where one machine is not enough: :doc:`Several hosts </gallery/concurrency/several_hosts>`.
#
# .. results:: workers

client.close()
cluster.close()

# %%

# draw
link_peak = facts["links"].value * 25e9  # NVLink 4; its data sheet counts both ways
bus = 2**30 / sums.time("nccl", 2**28).value
gg.fact(
    "link_peak", link_peak, unit="B/s", note="NVLink 4: 25 GB/s of data a link, each way"
)
gg.fact("copy_share", facts["direct"].value / link_peak, unit="share")
gg.fact("bus_share", bus / link_peak, unit="share")
for k in (10, 18, 22, 28):
    gg.fact(f"bus_{k}", 2**k * 4 / sums.time("nccl", 2**k).value, unit="B/s")
pace = integral.time("one", 2**37).value / 2**37
gg.fact("at_that_pace", 2**24 * pace, unit="s", note="time of 2^37 points / 2^13")
gg.claim(integral, "two", faster_than="one", at=2**37, by=1.95)
gg.claim(heat, "two_direct", faster_than="one", at=2**30, by=1.85)
gg.claim(sums, "nccl", faster_than="copies", at=2**28)

# %%
# Result: what two GPUs are worth
# -------------------------------
#
# Work that falls into parts needs no link between GPUs, but there must be enough of it, for Python serves one
# GPU after the other. If parts depend on each other, each step waits for its slowest slab and for the
# exchange.
#
# .. results:: integral
#
# .. results:: heat

# %%
# Your turn: rows for every GPU
# -----------------------------
#
# .. exercise:: halo_exchange

# %%
# Next
# ----
#
# Onward: :doc:`Several hosts </gallery/concurrency/several_hosts>`, on workers and a scheduler. Sideways:
# :doc:`Overlap copies and work </gallery/moving_data/overlap>`, on streams and events of one GPU.
