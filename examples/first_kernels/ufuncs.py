"""
Ufuncs: one decorator for costly functions
==========================================

How far does one decorator take you, and what does it hide?
"""
# %%
# Put ``@vectorize`` on a function that CuPy lacks, if it computes much for every number. For two million
# planets, a GPU ufunc solves Kepler's equation in :measured:`kepler[from_pinned, 128**3].time`,
# :term:`pinned <pinned memory>` copies included; all threads of the CPU take
# :measured:`kepler[cpu_loop, 128**3].time`. For a cheap function the copies decide, and the CPU wins: keep
# its arrays on the GPU.
#
# .. headline:: With copies, a costly function gains on the GPU, and a cheap one loses
#
# .. drawn:: ufuncs
#
#    from gpuguide.charts.shapes import plot_values
#
#    times = {
#        "Kepler's equation: CPU, all threads": orbits.time("cpu_loop", 128**3),
#        "Kepler's equation: GPU, with pinned copies": orbits.time("from_pinned", 128**3),
#        "Maximum: CPU, all threads": results.time("cpu_loop", 128**3),
#        "Maximum: GPU, with pinned copies": results.time("from_pinned", 128**3),
#    }
#    plot_values(times, "time for two million elements")

# %%
# @vectorize writes the kernel
# ----------------------------
#
# A :term:`ufunc` is a function of single numbers that is applied to every element of its arrays. NumPy's
# ``add`` is one. ``@vectorize`` makes one of a function of yours. For the GPU it writes a kernel in which
# each thread takes one element, and at each call it works out the grid for the :term:`launch`.
#
# .. rung:: ufunc

import cupy as cp
import numpy as np
from numba import cuda, vectorize


@vectorize(["float32(float32, float32)"], target="cuda")
def larger(a, b):
    return a if a > b else b


a_host, b_host = np.random.default_rng(0).random((2, 256**3), dtype=np.float32)
a, b = cp.asarray(a_host), cp.asarray(b_host)
out = cp.empty_like(a)
larger(a, b, out=out)
print("GPU:  ", out[:3])
print("NumPy:", np.maximum(a_host[:3], b_host[:3]))

# %%
# .. try-it::
#
#    Make the arrays ``float64``, or whole numbers. The call ends in a ``TypeError``. A ufunc for the GPU
#    takes the types in its list and no others.

# %%

# record: The studies: ten ways at six sizes, Kepler's equation, distances, and a call while the GPU is busy
import gpuguide as gg
from gpuguide.topics.ufuncs import hidden_wait, kepler, study as ufuncs
from gpuguide.topics.ufuncs.functions import larger as larger_of_two
from gpuguide.topics.ufuncs.kernels import own_kernel

results = ufuncs.maximum.run()
orbits = kepler.kepler.run()
quick = kepler.quick.run()
distances = ufuncs.distance.run()

arrays = [cp.zeros(32**3, cp.float32) for _ in range(3)]
for name, (x, y, z) in (
    ("bare", arrays),
    ("views", [cuda.as_cuda_array(array, sync=False) for array in arrays]),
):

    def call(x=x, y=y, z=z):
        ufuncs.ufunc(larger_of_two, x, y, z)

    samples = hidden_wait.host_time_while_busy(call)
    gg.fact(f"busy_{name}", float(np.median(samples)), unit="s", samples=samples)
gg.fact("busy", hidden_wait.BUSY_NS / 1e9, unit="s", note="how long the other work takes")

for name, steps in (("in_eight", 8), ("in_four", 4)):
    note = f"machine instructions per element, {steps} steps"
    gg.fact(name, kepler.instructions(1, steps), unit="1", note=note)
for name, study, variant in (
    ("off_ufunc", orbits, "eight_steps"),
    ("off_fastmath", quick, "fastmath"),
):
    gg.fact(name, kepler.farthest(study, variant), unit="1", note="millionths, at most")

# %%

# draw
gg.claim(results, "cpu", faster_than=("from_numpy", "from_pinned"), at=32**3, by=10)
gg.claim(results, "cpu_loop", faster_than="from_numpy", at=256**3)
gg.claim(results, "from_pinned", faster_than="from_numpy", at=256**3, by=2)
gg.claim(results, "cupy_maximum", faster_than="ufunc", at=128**3, clock="launch")
gg.claim(
    results, "own_kernel", faster_than=("ufunc", "own_kernel_1024"), at=512**3, by=1.05
)
gg.claim(orbits, "from_pinned", faster_than=("numpy_threads", "cpu_loop"), at=128**3)
gg.claim(orbits, "four_steps", faster_than="eight_steps", at=128**3, by=1.6)
gg.claim(orbits, "sincos", faster_than="eight_steps", at=128**3, by=1.1)

# %%
# What goes wrong: NumPy arrays and a cheap function
# --------------------------------------------------
#
# The same ufunc takes NumPy arrays. It makes room on the GPU, copies them there, and copies the result back
# into a new array. It does so at every call, and does not say so.
#
# .. drawing:: ufuncs
#
#     A function of one pair of numbers becomes, by @vectorize, a kernel with one thread for each pair.
#     Under it the way of the data: NumPy arrays are copied to the device, the kernel runs, and the result
#     is copied back to the host. With arrays on the GPU only the middle of it is left.
#
# .. rung:: from_numpy

result = larger(a_host, b_host)
print(type(result).__name__, result[:3])

# %%
# The kernel itself takes :measured:`maximum[ufunc, 256**3].time` of that; all the rest is making room and
# copying. If inputs and result lie in pinned memory, the call takes
# :measured:`maximum[from_pinned, 256**3].time`, which is still more than the
# :measured:`maximum[cpu_loop, 256**3].time` of a compiled loop on all threads of the CPU. More data does not
# help, since the copies grow with it. If your data is on the CPU, leave a cheap function there.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels_cpu
#    :names: cpu_ufunc, maximum_cpu, maximum_cpu_loop
#    :fold: The ufunc and the loop on the CPU
#
# .. kernel:: gpuguide.topics.ufuncs.study
#    :names: from_pinned
#    :fold: The call between arrays in pinned memory
#
# .. headline:: A maximum of NumPy arrays: the CPU wins at every size

# draw
gg.plot_time(results, variants=["cpu", "cpu_loop", "from_numpy", "from_pinned"])

# %%
# What goes wrong: a hidden wait for CuPy arrays
# ----------------------------------------------
#
# A Numba ufunc also waits for the GPU without being asked. It wraps a bare CuPy array anew at each call, and
# the wrapping waits until all earlier work is done. While the GPU was busy for :measured:`busy`, a call with
# CuPy arrays returned after :measured:`busy_bare`, and one with views that were made once after
# :measured:`busy_views`. Make the views once:

views = [cuda.as_cuda_array(array, sync=False) for array in (a, b, out)]
larger(*views[:2], out=views[2])
print(out[:3])

# %%
# Short calls: CuPy's own ways
# ----------------------------
#
# CuPy has a maximum already: ``cp.maximum``. What it lacks you can add in two short ways. ``cupy.fuse`` makes
# one kernel of several operations on arrays, and an ``ElementwiseKernel`` is a line of CUDA C++. All of them
# follow CuPy's current :term:`stream`, and none of them waits.

cp.maximum(a, b, out=out)


@cp.fuse
def larger_fused(a, b):
    return cp.where(a > b, a, b)


elementwise_larger = cp.ElementwiseKernel(
    "float32 a, float32 b", "float32 out", "out = a > b ? a : b", "elementwise_larger"
)
print(out[:3], larger_fused(a, b)[:3], elementwise_larger(a, b)[:3])

# %%
# Prefer them where the arrays are small and the calls are many: there, the time that a call takes in Python
# decides. One more difference: where one of the two numbers is NaN, ``cp.maximum`` gives NaN, and the others
# give ``b``.
#
# .. list-table::
#    :header-rows: 1
#
#    * - made with
#      - time in Python, per call
#    * - ``@vectorize``, on views
#      - :measured:`maximum[ufunc, 128**3].launch`
#    * - ``@cuda.jit``, on views
#      - :measured:`maximum[own_kernel, 128**3].launch`
#    * - ``cupy.maximum``
#      - :measured:`maximum[cupy_maximum, 128**3].launch`
#    * - ``cupy.fuse``
#      - :measured:`maximum[fused, 128**3].launch`
#    * - ``ElementwiseKernel``
#      - :measured:`maximum[elementwise, 128**3].launch`

# %%
# A kernel of your own
# --------------------
#
# This is what the decorator saves you: an index, a guard and a grid.
#
# .. rung:: own_kernel

own_kernel[(a.size + 255) // 256, 256](a, b, out)
print("as cp.maximum:", bool((out == cp.maximum(a, b)).all()))

# %%
# It is faster for one reason: you choose the size of the blocks, here 256 threads, and for the ufunc the
# driver chooses 1024. Launched in blocks of 1024, this kernel takes as long as the ufunc.
# :evidence:`variant own_kernel_1024`
# :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>` is on that choice.
#
# .. dropdown:: What the counters say
#
#    With blocks of 256, a multiprocessor holds :measured:`maximum[own_kernel, 512**3].counter(occupancy)` of
#    the warps that fit, on average; with blocks of 1024,
#    :measured:`maximum[own_kernel_1024, 512**3].counter(occupancy)`. For 512\ :sup:`3` pairs the kernel takes
#    :measured:`maximum[own_kernel, 512**3].time` in blocks of 256 and
#    :measured:`maximum[own_kernel_1024, 512**3].time` in blocks of 1024.

# %%
# A costly function: Kepler's equation
# ------------------------------------
#
# Kepler's equation says where a planet is when a given part of its year has passed. It is solved in steps,
# and each step has a sine and a cosine. Per planet the kernel still moves only twelve bytes.
#
# .. rung:: eight_steps

import math

ONE = np.float32(1)  # a bare 1.0 would turn everything into float64


@vectorize(["float32(float32, float32)"], target="cuda")
def anomaly(mean, eccentricity):
    angle = mean + eccentricity
    for _ in range(8):
        missing = angle - eccentricity * math.sin(angle) - mean
        angle = angle - missing / (ONE - eccentricity * math.cos(angle))
    return angle


mean, eccentricity = a * np.float32(np.pi), b * np.float32(0.8)
angle = cp.asarray(anomaly(mean, eccentricity))
missing = angle - eccentricity * cp.sin(angle) - mean
print("off by at most", float(cp.abs(missing).max()))

# %%
# Now the trip pays, and more so with pinned memory.
#
# .. list-table:: Kepler's equation for 128\ :sup:`3` planets, in eight steps
#    :header-rows: 1
#
#    * - solved with
#      - time
#    * - NumPy, one thread
#      - :measured:`kepler[numpy, 128**3].time`
#    * - A compiled loop, all threads of the CPU
#      - :measured:`kepler[cpu_loop, 128**3].time`
#    * - GPU ufunc, pageable copies
#      - :measured:`kepler[from_numpy, 128**3].time`
#    * - GPU ufunc, pinned copies
#      - :measured:`kepler[from_pinned, 128**3].time`
#    * - GPU ufunc, no copies
#      - :measured:`kepler[eight_steps, 128**3].time`
#
# What limits it now is the number of instructions, so take no more steps than the precision needs. Four are
# enough for these planets, and with them the kernel is
# :measured:`kepler[four_steps, 128**3].speedup(eight_steps)` as fast. :evidence:`count instructions`
#
# .. kernel:: gpuguide.topics.ufuncs.kernels_cpu
#    :names: anomaly_numpy, anomaly_numpy_threads, anomaly_part
#    :fold: Kepler's equation in NumPy, on one thread and on all
#
# .. dropdown:: How we know that instructions decide
#
#    The kernel moves few bytes, and it reaches only :measured:`kepler[eight_steps, 128**3].flop_share` of
#    what the ordinary FP32 units can do. But neither a sine nor a division is a single operation. Each of the
#    four schedulers of a multiprocessor can issue one instruction per clock cycle, for a warp, and here they
#    do so in :measured:`kepler[eight_steps, 128**3].counter(issue_active)` of the cycles.
#    :evidence:`counter issue_active` With four steps the warps issue
#    :measured:`kepler[four_steps, 128**3].counter(instructions)` instructions instead of
#    :measured:`kepler[eight_steps, 128**3].counter(instructions)`.
#
#    The count in the figures under the cell is lower: it is read off the machine code, :measured:`in_eight`
#    instructions per planet, which come to :measured:`in_warps` million for all warps. It leaves a side path
#    out. Where a planet is solved already, ``missing`` is zero, and to divide zero takes more instructions.
#    The rest of the warp waits: on average, :measured:`kepler[eight_steps, 128**3].counter(active_lanes)` of
#    32 threads take part in an instruction. Of eight steps a warp takes the side path in
#    :measured:`side_paths_of_eight`, of four in :measured:`side_paths_of_four`, and the instructions left out
#    are in the same proportion. :evidence:`count side_paths`
#
#    NumPy on all threads takes :measured:`kepler[numpy_threads, 128**3].time`, if each thread gets parts of
#    the arrays that stay in its cache.
#
# .. dropdown:: Fewer instructions: sincosf and fastmath
#
#    ``libdevice.sincosf`` returns sine and cosine together, which share most of their work. With it, the
#    ufunc is :measured:`kepler[sincos, 128**3].speedup(eight_steps)` as fast. A kernel made by
#    ``@cuda.jit(fastmath=True)`` goes further and takes :measured:`quick[fastmath, 128**3].time`: it has
#    approximations of sine, cosine and quotient that take an instruction or a few. The price is precision:
#    its results are off by up to :measured:`off_fastmath` millionths, and those of the ufunc by up to
#    :measured:`off_ufunc` millionths. ``@vectorize`` has no such option for the GPU.

# draw: The side path of the division, and the instructions of all warps
import numpy as np


def side_paths(n_steps):
    """Count the steps in which at least one planet of a warp divides zero, as a mean over many warps."""
    random = np.random.default_rng(0).random((2, 2**18), dtype=np.float32)
    mean, eccentricity = random[0] * np.float32(np.pi), random[1] * np.float32(0.8)
    angle, n = mean + eccentricity, 0.0
    for _ in range(n_steps):
        missing = angle - eccentricity * np.sin(angle) - mean
        n += (missing == 0).reshape(-1, 32).any(axis=1).mean()
        angle = angle - missing / (1 - eccentricity * np.cos(angle))
    return float(n)


gg.fact("side_paths_of_eight", side_paths(8), unit="1", note="steps of a warp")
gg.fact("side_paths_of_four", side_paths(4), unit="1", note="steps of a warp")
_ = gg.fact(
    "in_warps",
    facts["in_eight"].value * 128**3 / 32 / 1e6,
    unit="1",
    note="million instructions of all warps, 32 threads in each, by the count",
)

# %%
# .. kernel:: gpuguide.topics.ufuncs.kepler
#    :names: INSTRUCTIONS, instructions, issued_at_most
#    :fold: How instructions are counted
#
# .. kernel:: gpuguide.topics.ufuncs.kernels
#    :names: sincos, fastmath
#    :fold: The function with sincosf, and the kernel with fastmath

# %%


# fold: The CPU's ufuncs need no list of types
@vectorize
def log_of_sum(x, y):
    return math.log(x + y)


print("numbers:", log_of_sum(6, 7))
print("arrays: ", log_of_sum(np.arange(1.0, 4.0), np.ones(3)))
print("NumPy:  ", np.log(np.arange(1.0, 4.0) + np.ones(3)))
print("compiled for:", log_of_sum.types)

# %%
# Rows instead of numbers: @guvectorize
# -------------------------------------
#
# The distance of two points needs all of their coordinates. To ``@guvectorize`` you say which axis belongs
# to the function, here ``d`` of both inputs, and each thread gets a whole row.
#
# .. rung:: row_ufunc

from numba import guvectorize


@guvectorize(["void(float32[:], float32[:], float32[:])"], "(d),(d)->()", target="cuda")
def squared_distance(a, b, out):
    total = np.float32(0)
    for k in range(a.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    out[0] = total


points = a[: 3 * 2**20].reshape(-1, 3)
distance = cp.empty(2**20 - 1, dtype=cp.float32)
squared_distance(points[:-1], points[1:], out=distance)
print("GPU: ", distance[:3])
print("CuPy:", ((points[:-1] - points[1:]) ** 2).sum(axis=1)[:3])

# %%
# Which one to choose
# -------------------
#
# - ``@vectorize`` or ``@guvectorize`` for a costly function that CuPy lacks, on large arrays;
# - ``cupy.fuse`` or an ``ElementwiseKernel`` for many short calls on arrays that are on the GPU;
# - ``@cuda.jit`` for what needs neighbours or :term:`shared memory`, or another size of blocks.

# %%
# .. remember::
#
#    - Use ``@vectorize`` for functions that compute much for every number: Kepler's equation gains
#      :measured:`kepler[from_pinned, 128**3].speedup(cpu_loop)` over all threads of the CPU, copies included.
#    - Write short formulas with ``@cp.fuse``: a call keeps Python for
#      :measured:`maximum[fused, 128**3].launch`, and the call of a ufunc for
#      :measured:`maximum[ufunc, 128**3].launch`.

# %%
# Your turn: three passes in one
# ------------------------------
#
# .. exercise:: fusion

# thumbnail
from gpuguide.charts import thumbnail

names = {"CPU, all threads": "cpu_loop", "GPU, pinned copies": "from_pinned"}
times = {label: orbits.time(name, 128**3) for label, name in names.items()}
_ = thumbnail.bars(times, "time of Kepler's equation")

# %%
# Next
# ----
#
# Next: :doc:`Matrices: walk along the rows </gallery/first_kernels/grids_2d_3d>`, on kernels for matrices.
# See also: :doc:`Many short kernels: launch less often </gallery/first_kernels/launch_overhead>`, on why a
# call keeps Python for so long.
