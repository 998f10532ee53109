"""
Which kind of kernel to write
=============================

CuPy and Numba offer many ways to write a kernel: which do you take, and when?
"""
# %%
# Take CuPy's function if there is one, and ``@cp.fuse`` or an ElementwiseKernel if there is none. Write a
# ``@cuda.jit`` kernel or a RawKernel where threads share data. On ``float32`` arrays, whatever the kind, give
# each thread more than one number: with four, an addition is
# :measured:`add[add_four, 2**28].speedup(add_ufunc)` as fast as ``cp.add``.
#
# .. headline:: More than one number per thread is what helps, not the kind of kernel
#
# .. drawn:: kernel_families
#
#     from gpuguide.charts.shapes import plot_values
#
#     names = {
#         "cp.add": "add_ufunc",
#         "cp.fuse": "add_fused",
#         "ElementwiseKernel": "add_elementwise",
#         "cp.add, pairs": "add_pairs",
#         "@cuda.jit, four": "add_four",
#         "RawKernel, four": "add_quads",
#     }
#     times = {label: results.time(name, 2**28) for label, name in names.items()}
#     plot_values(times, "time to add two arrays of 2**28 numbers of four bytes")

# %%
# Three ways without a grid
# -------------------------
#
# CuPy writes the :term:`kernel` for these three, and chooses its grid. You give the operation: by its name,
# as a function of arrays, or as a line of CUDA C++ for one element. ``T`` stands for whatever type the
# arrays have.

import cupy as cp
import numpy as np

a_host, b_host = np.random.default_rng(0).random((2, 2**26), dtype=np.float32)
a, b = cp.asarray(a_host), cp.asarray(b_host)
out = cp.empty_like(a)


@cp.fuse
def fused(a, b):
    return a + b


elementwise = cp.ElementwiseKernel("T a, T b", "T out", "out = a + b", "elementwise")

print("ufunc:      ", cp.add(a, b)[:3])
print("fused:      ", fused(a, b)[:3])
print("elementwise:", elementwise(a, b)[:3])
print("NumPy:      ", np.add(a_host, b_host)[:3])

# %%
# .. try-it::
#
#    Call all three with ``b.astype(int)``. The ufunc and the fused function convert it. The ElementwiseKernel
#    raises ``TypeError``: ``T`` cannot stand for two types at once.

# %%
# Which kind for what
# -------------------
#
# Go down this table until you find a kind that can do the work. A sum or another reduction that CuPy lacks is
# a ``ReductionKernel``.
#
# .. list-table:: One addition, in lines that you write
#    :header-rows: 1
#
#    * - kind
#      - take it for
#      - lines
#      - first call
#    * - ``cp.add``
#      - whatever CuPy has
#      - 1
#      - :measured:`first_add_ufunc`
#    * - ``cp.fuse``
#      - an expression of several operators, :doc:`within limits </gallery/fast_kernels/fusion>`
#      - 4
#      - :measured:`first_add_fused`
#    * - Elementwise
#      - what is easier to say for one element
#      - 2
#      - :measured:`first_add_elementwise`
#    * - RawKernel
#      - CUDA C++ that you have, and the shortest launch
#      - 11
#      - :measured:`first_add_quads`
#    * - ``@cuda.jit``
#      - neighbours, :term:`shared memory`, several numbers per thread
#      - 16
#      - :measured:`first_add_four`
#
# The first call, in a fresh process with an empty kernel cache, is mostly compilation. Later calls keep
# Python busy for :measured:`add[add_ufunc, 2**28].launch` with ``cp.add``,
# :measured:`add[add_quads, 2**28].launch` with a RawKernel and :measured:`add[add_four, 2**28].launch` with
# Numba.

# %%

# record: The studies: two additions and a sum by every route, CUB on and off, and the first calls
import gpuguide as gg
from gpuguide.topics.kernel_families import accelerators, fresh
from gpuguide.topics.kernel_families import study as families
from gpuguide.topics.kernel_families.kernels import add_four, add_source, sum_blocks

for name, seconds in fresh.measure_first_calls().items():
    gg.fact(f"first_{name}", seconds, unit="s", note="in a fresh process")
results = families.add.run()
doubles = families.double.run()
totals = families.total.run()
switched = accelerators.switched.run()
cumulative = accelerators.cumulative.run()
contraction = accelerators.contraction.run()

# %%

# draw
gg.claim(results, "add_four", faster_than="add_ufunc", at=2**28, by=1.5)
gg.claim(results, "add_four", faster_than="add_one", at=2**28, by=1.1)
gg.claim(results, "add_quads", share_at_least=0.9, at=2**28)
gg.claim(results, "add_four", share_at_least=0.9, at=2**28)
gg.claim(doubles, "double_ufunc", share_at_least=0.85, at=5 * 10**7)
gg.claim(totals, "sum_cupy", share_at_least=0.85, at=2**28)
gg.claim(totals, "sum_quads", share_at_least=0.85, at=2**28)
gg.claim(totals, "sum_cupy", faster_than="sum_reduction", at=2**28, by=1.4)
gg.claim(switched, "sum_cub", faster_than="sum_without", at=10**8, by=100)
gg.claim(cumulative, "cumsum_in_place", faster_than="cumsum_cub", at=10**8, by=1.7)

# %%
# RawKernel: CUDA C++, and the grid is yours
# ------------------------------------------
#
# A RawKernel is a whole kernel in CUDA C++, which CuPy hands to the compiler as it is. You choose grid and
# block, and how many bytes a thread loads at once: a ``float4`` is four numbers, 16 bytes.
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: add_source
#
# .. rung:: add_quads
#    :beside:

raw_addition = cp.RawKernel(add_source, "add_quads")
n_blocks = (a.size + 1023) // 1024
raw_addition((n_blocks,), (256,), (a, b, out, np.int64(a.size)))
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# What goes wrong: a RawKernel checks nothing
# -------------------------------------------
#
# CuPy hands over a Python float as a ``double`` of eight bytes. If the kernel's parameter is a ``float``, it
# takes the first four of them. For 2.0 they are zero:

scale_source = """
extern "C" __global__ void scale(const float* x, float factor, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}
"""
scale = cp.RawKernel(scale_source, "scale")
blocks_per_grid = (a.size + 255) // 256
print("x:                     ", a[:3])

# %%

# wrong: a Python float for a parameter of type float
scale((blocks_per_grid,), (256,), (a, 2.0, out, np.int32(a.size)))
print("times 2.0:             ", out[:3], "any but zeros:", bool(out.any()))

# %%
# There is no error, and the result is zero everywhere. The cure is to give each number the type that the
# kernel declares: ``np.float32`` for ``float``, ``np.int32`` for ``int``, ``np.int64`` for ``long long``.

scale((blocks_per_grid,), (256,), (a, np.float32(2.0), out, np.int32(a.size)))
print("times np.float32(2.0): ", out[:3], "as 2 * x:", bool((out == 2 * a).all()))

# %%
# Three more mistakes that CuPy does not catch:
#
# - *Arrays of another type* are read as if they had the kernel's.
# - *Arrays with gaps*, such as ``a[::2]``, are read as if they had none. Pass
#   ``cp.ascontiguousarray(a[::2])``.
# - *A float4* must begin at a multiple of 16 bytes, which ``a`` does and ``a[1:]`` does not.

# %%
# @cuda.jit: the same in Python
# -----------------------------
#
# A Numba kernel takes arrays with gaps and numbers of any type as they are. It cannot load a ``float4``, but
# a thread has as many bytes on their way if it loads four numbers of each array before it stores the first.
#
# .. rung:: add_four
#    :beside:

from numba import cuda

add_four[(a.size + 1023) // 1024, 256](a, b, out)
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# CuPy keeps what it has compiled on disk for later processes. Numba does so with ``@cuda.jit(cache=True)``.
#
# .. dropdown:: What about cupyx.jit?
#
#    ``cupyx.jit`` translates a kernel from Python to CUDA C++, and it is launched like a RawKernel. CuPy
#    warns that this is experimental, and the first call takes :measured:`first_add_jit`, with the import of
#    the translator. ``@cuda.jit`` does the same, is as fast, and is not experimental.
#
# .. kernel:: gpuguide.topics.kernel_families.functions
#    :names: jit_addition, numba_addition
#    :fold: The kernel of cupyx.jit, and the ufunc of @vectorize
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: add_one
#    :fold: The kernel of @cuda.jit with one number per thread

# %%
# Why cp.add is not faster, and a cure without a kernel
# -----------------------------------------------------
#
# With one number of four bytes per thread, no kind of kernel comes to the limit of the memory. CuPy launches
# blocks of 128 threads with one element each, and a RawKernel that is launched like that is as slow. It is
# this shape of launch that costs time, not CuPy's code. :evidence:`variant add_single` Larger blocks help
# somewhat: with one number per thread in blocks of 256, ``@cuda.jit`` takes
# :measured:`add[add_one, 2**28].time` (:doc:`How many threads, how many blocks
# </gallery/first_kernels/launch_sizes>`).
#
# For arrays of even length, a view is a cure. Seen as complex numbers, two neighbours are one element of
# eight bytes, and a complex addition adds both parts.
#
# .. rung:: add_pairs
#    :beside:

pairs = [array.view(cp.complex64) for array in (a, b, out)]
cp.add(pairs[0], pairs[1], out=pairs[2])
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# This reaches :measured:`add[add_pairs, 2**28].share` of the memory's speed. Numbers of eight bytes need no
# cure: for ``float64``, ``cp.add`` reaches :measured:`double[double_ufunc, 5*10**7].share`.

# %%
# A sum: take cp.sum
# ------------------
#
# A reduction makes one number of many. ``cp.sum`` reaches :measured:`total[sum_cupy, 2**28].share` of the
# memory's speed, which leaves next to nothing to win. For a reduction that CuPy does not have, a
# ``ReductionKernel`` needs four expressions: what to take from an element, how to combine two results, what
# to store, and what to begin with.
#
# .. rung:: sum_reduction
#    :beside:

total = cp.ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "reduction")
print("ReductionKernel:", total(a), " NumPy:", a_host.sum())

# %%
# Its first call takes :measured:`first_sum_reduction`, which goes into compiling templates of CUB, a library
# for sums and the like. :evidence:`variant reduction_without`
#
# In a kernel of your own, each block adds up a part of the array and stores its sum. Another launch, with a
# single block, adds up these sums. That takes many more lines and gains nothing.
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: sum_blocks
#    :fold: The sum in Python

# %%

# fold: Its two launches
from numba import config

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of a launch with a single block
parts, result = cp.empty(4096, dtype=cp.float32), cp.empty(1, dtype=cp.float32)
sum_blocks[4096, 256](a, parts)
sum_blocks[1, 256](parts, result)
print("sum_blocks:", result[0], " NumPy:", a_host.sum())

# %%
# .. headline:: cp.sum is as fast as a kernel of your own

# draw
from gpuguide.charts.shapes import plot_values

names = {
    "cp.sum": "sum_cupy",
    "ReductionKernel": "sum_reduction",
    "@cuda.jit": "sum_blocks",
    "RawKernel": "sum_quads",
}
times = {label: totals.time(name, 2**28) for label, name in names.items()}
_ = plot_values(times, "time to add up 2**28 numbers of four bytes")

# %%
# Our best RawKernel is hardly worth its 49 lines. It loads 16 bytes at once, with as many blocks as the GPU
# holds and few registers, and needs no second launch: the block that finishes last adds up the sums of all.
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: sum_source
#    :fold: The sum in CUDA C++, in one launch

# %%
# Sums are slow? Look whether CUB is on
# -------------------------------------
#
# For sums and the like CuPy has kernels of its own, and *accelerators*: libraries to which it can leave the
# work. Since version 11 it uses CUB unless the environment variable ``CUPY_ACCELERATORS`` says otherwise.
# These calls switch it off and on again for all that follows:

cp._core.set_routine_accelerators([])
without_cub = a.sum()
cp._core.set_routine_accelerators(["cub"])
print("without CUB:", without_cub, " with CUB:", a.sum())

# %%
# Without CUB, a sum of 10\ :sup:`8` numbers takes :measured:`switched[sum_without, 10**8].time` instead of
# :measured:`switched[sum_cub, 10**8].time`: CuPy's own kernel has one block for each result, and a sum of all
# numbers has a single result, so that most of the GPU is idle.
#
# .. dropdown:: A faster cumulative sum, and contractions
#
#    ``cp.cumsum`` of ``int64`` takes :measured:`cumulative[cumsum_cub, 10**8].time` with CUB, as long as
#    without, which is :measured:`cumulative[cumsum_cub, 10**8].share` of the rate of a copy. CuPy copies the
#    array first and then lets CUB add up in the copy, so each number is read and written twice. If the array
#    itself may be overwritten, ``cub.device_scan`` of ``cupy.cuda.cub``, which CuPy calls there, does without
#    the copy. It is :measured:`cumulative[cumsum_in_place, 10**8].speedup(cumsum_cub)` as fast.
#    :evidence:`variant cumsum_in_place`
#
#    CUB has nothing for a contraction such as ``cp.einsum``, and CuPy calls cuBLAS for it either way. Another
#    library, cuTENSOR, has contractions: install ``cutensor-cu13``, and ask for it with
#    ``CUPY_ACCELERATORS=cub,cutensor``. Without the package, CuPy accepts that setting and goes on as before.
#
# .. kernel:: gpuguide.topics.kernel_families.accelerators
#    :names: using, cumulative_sum, in_place, contracted
#    :fold: CUB on and off

# %%
# .. remember::
#
#    - Take what CuPy has, such as ``cp.sum``; then ``@cp.fuse`` or an ElementwiseKernel; a kernel of your own
#      comes last.
#    - Pass numbers to a RawKernel as ``np.float32(x)`` or ``np.int32(n)``, never as Python's: it would read
#      other bits.

# %%
# Your turn: a reduction in any grouping
# --------------------------------------
#
# .. exercise:: any_grouping

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "cp.add": "add_ufunc",
    "@cuda.jit, one each": "add_one",
    "@cuda.jit, four each": "add_four",
}
times = {label: results.time(name, 2**28) for label, name in names.items()}
_ = thumbnail.bars(times, "time of an addition")

# %%
# Next
# ----
#
# Next: :doc:`Fusion: one kernel, fewer bytes </gallery/fast_kernels/fusion>`, on one kernel for several
# operations. See also: :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>`, on the
# shapes of grids.
