"""
Several GPUs
============

What changes in the code when a machine has several GPUs, and what is it worth?
"""
# %%
# On one GPU an integral over 137 billion points takes :measured:`integral[one, 2**37].time`. The same code
# runs on as many GPUs as a machine has.
#
# .. needs-gpus:: 4
#
#    On four it is :measured:`integral[four, 2**37].speedup(one)` as fast, and heat that flows across a plate,
#    with an exchange in each step, :measured:`heat[four_direct, 2**30].speedup(one)`.

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
#    Start Python with ``CUDA_VISIBLE_DEVICES=1``. If the machine has two GPUs, this process sees the second
#    one alone, and calls it GPU 0. This is how several processes share a machine, one GPU for each.
#
# After the error the current device is the same as before.
#
# .. needs-gpus:: 2
#
#    Numba asks for the current device in its own way. Inside ``with cuda.gpus[1]:`` CuPy is on GPU
#    :measured:`cupy_follows`, and inside ``with cp.cuda.Device(1):`` Numba is on GPU
#    :measured:`numba_follows`.

# %%
# An array of the other GPU
# -------------------------
#
# Which GPU computes, if the array is in the memory of another one? The current device does, and the result is
# there as well.

import warnings

with gpus[-1], warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    z = x * 2  # x is on GPU 0
print(z, "is on GPU", z.device.id, "with", len(seen), "warning(s)")

# %%
# .. needs-gpus:: 2
#
#    This was an error once. Today the current device reads the other one's memory, if it may, and CuPy warns:
#    ":measured:`other_array`". The current device doubles numbers in its own memory at :measured:`used_here`,
#    and those of the other GPU at :measured:`used_there`. Copy an array that you need more than once:
#    ``x.copy()`` makes the copy on the current device.

# %%

# record: Copies between all GPUs, then three studies on one, two and four, every result checked
import gpuguide as gg
import numpy as np
from gpuguide.topics.several_gpus import all_reduce, peers, stencil
from gpuguide.topics.several_gpus import study as several_gpus
from gpuguide.topics.several_gpus.kernels import HEAT_SOURCE

used, warning = peers.using()
for name, rates in {**peers.rates(), **used}.items():
    gg.fact(name, float(np.median(rates)), unit="B/s", samples=rates)
for name, number in peers.followers().items():
    gg.fact(name, number, unit="1")
if warning:
    gg.fact("other_array", warning, unit="text")
integral = several_gpus.study().run()
heat = stencil.heat_study().run()
_ = all_reduce.nccl()  # says what to install where it is missing
sum_of_two = all_reduce.two_study().run()
sum_of_four = all_reduce.four_study().run()

# %%
# Copies: directly, or by way of the host
# ---------------------------------------
#
# A copy from one GPU to another goes directly if the two have *peer access* to each other's memory.
# ``cp.cuda.runtime.deviceCanAccessPeer(0, 1)`` says whether they can, and CuPy then allows it before the
# first copy. Without it the data goes by way of the host. By way of :term:`pinned memory`, to the host and
# then back, a GPU sends data to itself at :measured:`host_0_0`. A copy within its own memory reaches
# :measured:`push_0_0`, each byte counted once.
#
# .. needs-gpus:: 2
#
#    From GPU 0 to GPU 1, 256 MiB go at :measured:`push_0_1` by the events of the GPU that sends, and at
#    :measured:`pull_0_1` by those of the GPU that fetches. Without peer access the driver takes the way
#    through the host, at :measured:`staged_0_1`; by hand, through pinned memory, it is :measured:`host_0_1`.
#
# .. needs-gpus:: 4
#
#    Between any two of four GPUs, by the events of the one that sends:
#
#    .. list-table::
#       :header-rows: 1
#       :stub-columns: 1
#
#       * - to
#         - GPU 0
#         - GPU 1
#         - GPU 2
#         - GPU 3
#       * - GPU 0
#         -
#         - :measured:`push_1_0`
#         - :measured:`push_2_0`
#         - :measured:`push_3_0`
#       * - GPU 1
#         - :measured:`push_0_1`
#         -
#         - :measured:`push_2_1`
#         - :measured:`push_3_1`
#       * - GPU 2
#         - :measured:`push_0_2`
#         - :measured:`push_1_2`
#         -
#         - :measured:`push_3_2`
#       * - GPU 3
#         - :measured:`push_0_3`
#         - :measured:`push_1_3`
#         - :measured:`push_2_3`
#         -

# %%
# Work that falls into parts
# --------------------------
#
# The area under 4 / (1 + x^2) between 0 and 1 is pi. Each of a million threads has a slice of it, so GPUs can
# share the slices. A call only launches the work and does not wait for it. So one loop in one thread of
# Python is enough to keep all GPUs at work.

import numpy as np

integrate = cp.ElementwiseKernel(
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
# .. needs-gpus:: 2
#
#    137 billion points take :measured:`integral[one, 2**37].time` on one GPU of a machine with two, and
#    :measured:`integral[two, 2**37].time` on both.
#
# .. needs-gpus:: 4
#
#    On a machine with four GPUs they take :measured:`integral[one, 2**37].time` on one of them and
#    :measured:`integral[four, 2**37].time` on all, :measured:`integral[four, 2**37].speedup(one)` as fast.
#    With 17 million points all four are :measured:`integral[four, 2**24].speedup(one)` as fast as one.
#
# There must be enough work to share. For 17 million points one GPU takes
# :measured:`integral[one, 2**24].time`; at the pace of the larger integral it would be
# :measured:`at_that_pace`. We think that the rest is the time that the host takes for its calls, and it makes
# them for one GPU after the other. :evidence:`opinion`
#
# .. kernel:: gpuguide.topics.several_gpus.study
#    :names: areas_on
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
# Nothing says that slabs must be on different GPUs, so all of this can be tried on one. There the exchange
# only costs time. 20 steps on a plate of 17 million cells take :measured:`heat[one, 2**24].time` in one slab,
# and :measured:`heat[four_slabs, 2**24].time` in four. With a billion cells it is
# :measured:`heat[one, 2**30].time` and :measured:`heat[four_slabs, 2**30].time`.
#
# A kernel can also read its neighbour's edge in place, without a copy: give it ``slabs[k - 1].now[-1]``
# instead of ``slab.above``. This needs peer access. On the small plate, it brings four slabs down to
# :measured:`heat[four_slabs_direct, 2**24].time`. :evidence:`variant four_slabs_direct`
#
# .. needs-gpus:: 2
#
#    With a billion cells, two GPUs are :measured:`heat[two, 2**30].speedup(one)` as fast as one if they copy
#    the edges, and :measured:`heat[two_direct, 2**30].speedup(one)` if they read them in place.
#
# .. needs-gpus:: 4
#
#    Four are :measured:`heat[four, 2**30].speedup(one)` and :measured:`heat[four_direct, 2**30].speedup(one)`
#    as fast as one.
#
# .. kernel:: gpuguide.topics.several_gpus.stencil
#    :names: copied, slabs_copied, direct, slabs_direct
#    :fold: What is timed: edges copied and edges read

# %%
# A sum for all: NCCL
# -------------------
#
# Often each GPU has an array, and all of them need the sum. NVIDIA's library NCCL does that in one call, in
# which all GPUs send to each other at the same time. CuPy finds it if ``nvidia-nccl-cu13`` is installed.

from cupy.cuda import nccl

arrays = []
for k, gpu in enumerate(gpus):
    with gpu:
        arrays.append(cp.full(1000, k + 1, cp.float32))

nccl_gpus = nccl.NcclCommunicator.initAll([gpu.id for gpu in gpus])
nccl.groupStart()
for gpu, one, x in zip(gpus, nccl_gpus, arrays, strict=True):
    with gpu:
        stream = cp.cuda.get_current_stream().ptr
        one.allReduce(
            x.data.ptr, x.data.ptr, x.size, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream
        )
nccl.groupEnd()
print("GPU:  ", arrays[-1].get()[:3])
print("NumPy:", sum(range(1, n_gpus + 1)) * np.ones(3))

# %%
# One process makes the calls of all GPUs, so they must form a group. Outside of one, the first call waits for
# the others, which this process has not made yet, and hangs.
#
# .. needs-gpus:: 2
#
#    Two arrays of 1 GiB are added up in :measured:`sum_of_two[nccl, 2**28].time`, and in
#    :measured:`sum_of_two[copies, 2**28].time` if GPU 0 fetches the other array and sends the sum.
#
# .. needs-gpus:: 4
#
#    .. list-table:: The sum of four arrays
#       :header-rows: 1
#
#       * - each array
#         - NCCL
#         - copies to GPU 0 and back
#         - bytes that a GPU sends, by NCCL
#       * - 4 KiB
#         - :measured:`sum_of_four[nccl, 2**10].time`
#         - :measured:`sum_of_four[copies, 2**10].time`
#         - :measured:`sum_of_four[nccl, 2**10].rate(bus_bytes)`
#       * - 1 MiB
#         - :measured:`sum_of_four[nccl, 2**18].time`
#         - :measured:`sum_of_four[copies, 2**18].time`
#         - :measured:`sum_of_four[nccl, 2**18].rate(bus_bytes)`
#       * - 16 MiB
#         - :measured:`sum_of_four[nccl, 2**22].time`
#         - :measured:`sum_of_four[copies, 2**22].time`
#         - :measured:`sum_of_four[nccl, 2**22].rate(bus_bytes)`
#       * - 1 GiB
#         - :measured:`sum_of_four[nccl, 2**28].time`
#         - :measured:`sum_of_four[copies, 2**28].time`
#         - :measured:`sum_of_four[nccl, 2**28].rate(bus_bytes)`
#
#    NCCL's own tests count the last column like this: with four GPUs, each has to send one and a half times
#    the length of its array. We think that copies to one GPU wait for each other at its links.
#    :evidence:`opinion`

# %%
# Result: what limits several GPUs
# --------------------------------
#
# Work that falls into parts needs no link between GPUs, but there must be enough of it, for Python serves one
# GPU after the other. If parts depend on each other, each step waits for its slowest slab and for the
# exchange. The larger the slabs, the less that matters: the work grows with the area of a slab, the exchange
# only with the length of its edge.
#
# .. results:: integral
#
# .. results:: heat

# draw
timed = {cell.variant for cell in (*integral.measurements, *heat.measurements) if cell.n}
for name, wanted in (("two", 1.9), ("four", 3.9)):
    if name in timed:
        gg.claim(integral, name, faster_than="one", at=2**37, by=wanted)
for name, wanted in (("two_direct", 1.85), ("four_direct", 3.6)):
    if name in timed:
        gg.claim(heat, name, faster_than="one", at=2**30, by=wanted)
pace = integral.time("one", 2**37).value / 2**37
gg.fact("at_that_pace", 2**24 * pace, unit="s", note="time of 2^37 points / 2^13")
gg.claim(heat, "one", faster_than="four_slabs", at=2**24)
gg.claim(heat, "four_slabs_direct", faster_than="four_slabs", at=2**24)

# %%
# More GPUs than one machine has
# ------------------------------
#
# One process can use the GPUs of its own machine only. With Dask, each GPU gets a process, a *worker*, and a
# scheduler hands them parts of the work over the network.
# :doc:`Several hosts </gallery/concurrency/several_hosts>` sets this up, and says what it costs.

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
