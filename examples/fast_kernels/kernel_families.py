"""
Kernel families
===============

Seven ways to add two arrays: which is short, which is quick to compile, and which is fast?
"""
# %%
# ``cp.add`` is one line and reaches :measured:`add[add_ufunc, 2**28].share` of what memory can do with
# ``float32``; a kernel with four numbers per thread reaches :measured:`add[add_four, 2**28].share`. What
# counts is the shape of the launch, above all the bytes per thread, and hardly the route. For a sum, take
# ``cp.sum``: it reaches :measured:`total[sum_cupy, 2**28].share`, and the best of our kernels
# :measured:`total[sum_quads, 2**28].share`.
#
# .. list-table:: 2\ :sup:`28` numbers of four bytes in GPU memory
#    :header-rows: 1
#
#    * - route
#      - lines
#      - first call
#      - time
#      - share
#    * - **a + b**
#      -
#      -
#      -
#      -
#    * - ``cp.add``
#      - 1
#      - :measured:`first_add_ufunc`
#      - :measured:`add[add_ufunc, 2**28].time`
#      - :measured:`add[add_ufunc, 2**28].share`
#    * - ``cp.fuse``
#      - 4
#      - :measured:`first_add_fused`
#      - :measured:`add[add_fused, 2**28].time`
#      - :measured:`add[add_fused, 2**28].share`
#    * - Elementwise
#      - 2
#      - :measured:`first_add_elementwise`
#      - :measured:`add[add_elementwise, 2**28].time`
#      - :measured:`add[add_elementwise, 2**28].share`
#    * - ``cupyx.jit``
#      - 6
#      - :measured:`first_add_jit`
#      - :measured:`add[add_jit, 2**28].time`
#      - :measured:`add[add_jit, 2**28].share`
#    * - ``@vectorize``
#      - 4
#      - :measured:`first_add_numba_ufunc`
#      - :measured:`add[add_numba_ufunc, 2**28].time`
#      - :measured:`add[add_numba_ufunc, 2**28].share`
#    * - Raw, ``float4``
#      - 11
#      - :measured:`first_add_quads`
#      - :measured:`add[add_quads, 2**28].time`
#      - :measured:`add[add_quads, 2**28].share`
#    * - ``@cuda.jit``, four each
#      - 16
#      - :measured:`first_add_four`
#      - :measured:`add[add_four, 2**28].time`
#      - :measured:`add[add_four, 2**28].share`
#    * - **sum**
#      -
#      -
#      -
#      -
#    * - ``cp.sum``
#      - 1
#      - :measured:`first_sum_cupy`
#      - :measured:`total[sum_cupy, 2**28].time`
#      - :measured:`total[sum_cupy, 2**28].share`
#    * - Reduction
#      - 2
#      - :measured:`first_sum_reduction`
#      - :measured:`total[sum_reduction, 2**28].time`
#      - :measured:`total[sum_reduction, 2**28].share`
#    * - Raw, ``float4``
#      - 49
#      - :measured:`first_sum_quads`
#      - :measured:`total[sum_quads, 2**28].time`
#      - :measured:`total[sum_quads, 2**28].share`
#    * - ``@cuda.jit``
#      - 24
#      - :measured:`first_sum_blocks`
#      - :measured:`total[sum_blocks, 2**28].time`
#      - :measured:`total[sum_blocks, 2**28].share`
#
# *Lines* are those that you write. The *first call* is that of a fresh process with an empty kernel cache, in
# which each compiler has compiled another kernel before. The *share* is what a route reaches of the
# :term:`ceiling` for its mix of reading and writing.

# %%
# Ufunc, fuse and ElementwiseKernel: no grid to choose
# ----------------------------------------------------
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
# RawKernel, cupyx.jit and @cuda.jit: the grid is yours
# -----------------------------------------------------
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
# Here everything is up to you: a length that four does not divide, the types, and gaps. A RawKernel reads an
# array with gaps as if it had none, and there is no error. A ``float4`` must begin at a multiple of 16 bytes,
# which ``a`` does and ``a[1:]`` does not.
#
# Scalars are up to you as well. CuPy hands over a Python float as a ``double`` of eight bytes. If the
# parameter is a ``float``, the kernel takes the first four of them, and for 2.0 they are zero:

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
# There is no error. The cure is to give each scalar the type that the kernel declares: ``np.float32`` for
# ``float``, ``np.int32`` for ``int``, ``np.int64`` for ``long long``.

scale((blocks_per_grid,), (256,), (a, np.float32(2.0), out, np.int32(a.size)))
print("times np.float32(2.0): ", out[:3], "as 2 * x:", bool((out == 2 * a).all()))

# %%
# A Numba kernel cannot load a ``float4`` from an array. But a thread has as many bytes on their way if it
# loads four numbers of each array before it stores the first.
#
# .. rung:: add_four
#    :beside:

from numba import cuda

add_four[(a.size + 1023) // 1024, 256](a, b, out)
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# Its first call takes :measured:`first_add_four`, and that of the RawKernel :measured:`first_add_quads`. CuPy
# keeps what it has compiled on disk for later processes. Numba does so with ``@cuda.jit(cache=True)``.
#
# ``cupyx.jit`` translates a kernel from Python to CUDA C++. The kernel is launched like a RawKernel. CuPy
# warns that this is experimental. The first call includes the import of the translator. The shortest addition
# has one number per thread, as with ``@vectorize`` and ``@cuda.jit``.
#
# .. kernel:: gpuguide.topics.kernel_families.functions
#    :names: jit_addition, numba_addition
#    :fold: The kernel of cupyx.jit, and the ufunc of @vectorize
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: add_one
#    :fold: The kernel of @cuda.jit with one number per thread

# %%
# Bytes per thread, not the route
# -------------------------------

# draw
from gpuguide.charts.shapes import plot_ratios

shares = {}
for info in results.variants:
    share = results.quantity(info.name, 2**28, "share").value
    note = "of the ceiling for this mix"
    label = info.label.replace("RawKernel", "Raw")
    shares[label] = gg.fact(f"share_{info.name}", share, unit="share", note=note)
_ = plot_ratios(shares, "share of the ceiling")

# %%
# .. finding::
#
#    With one number per thread no route comes to the limit of the memory: **cp.add** reaches
#    :measured:`add[add_ufunc, 2**28].share`, **@cuda.jit** :measured:`add[add_one, 2**28].share`. With two,
#    **cp.add, in pairs** reaches :measured:`add[add_pairs, 2**28].share`.
#
# CuPy launches blocks of 128 threads, each of which takes one element. A RawKernel launched like that reaches
# :measured:`add[add_single, 2**28].share`, no more than ``cp.add``. So it is not CuPy's code that is slow
# here, but this shape of launch. :evidence:`variant add_single` Larger blocks help as well: those of
# ``cupyx.jit`` and ``@cuda.jit`` have 256 threads here (:doc:`Launch sizes
# </gallery/first_kernels/launch_sizes>`).
#
# .. results:: add
#
# For arrays of even length, the cure can be one line. Seen as complex numbers, two neighbours are one element
# of eight bytes, and a complex addition adds both parts.
#
# .. rung:: add_pairs
#    :beside:

pairs = [array.view(cp.complex64) for array in (a, b, out)]
cp.add(pairs[0], pairs[1], out=pairs[2])
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# Numbers that have eight bytes need no cure. For 5 * 10\ :sup:`7` of ``float64``, ``cp.add`` reaches
# :measured:`double[double_ufunc, 5*10**7].share`, and an ElementwiseKernel
# :measured:`double[double_elementwise, 5*10**7].share`.

# %%
# A sum: ReductionKernel, and the sums of blocks
# ----------------------------------------------
#
# A reduction makes one number of many. A ``ReductionKernel`` needs four expressions: what to take from an
# element, how to combine two results, what to store, and what to begin with.
#
# .. rung:: sum_reduction
#    :beside:

total = cp.ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "reduction")
print("ReductionKernel:", total(a), " NumPy:", a_host.sum())

# %%
# It takes :measured:`total[sum_reduction, 2**28].time`, where ``cp.sum`` takes
# :measured:`total[sum_cupy, 2**28].time`, and :measured:`first_sum_reduction` when it is called for the first
# time. Nearly all of that goes into compiling templates of CUB, a library for sums and the like. Without them
# the first call takes :measured:`first_reduction_without`. :evidence:`variant reduction_without`
#
# In a kernel of your own, each block adds up a part of the array and stores its sum. Another launch, with a
# single block, adds up these sums.
#
# .. rung:: sum_blocks
#    :beside:

from numba import config

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of a launch with a single block
parts, result = cp.empty(4096, dtype=cp.float32), cp.empty(1, dtype=cp.float32)
sum_blocks[4096, 256](a, parts)
sum_blocks[1, 256](parts, result)
print("sum_blocks:", result[0], " NumPy:", a_host.sum())

# %%
# It reaches :measured:`total[sum_blocks, 2**28].share`, and ``cp.sum``
# :measured:`total[sum_cupy, 2**28].share`, which leaves next to nothing to win. Our best RawKernel reaches
# :measured:`total[sum_quads, 2**28].share`, which is hardly worth so many lines. It needs loads of 16 bytes,
# as many blocks as the GPU holds at once, and no second launch: the block that finishes last adds up the sums
# of all. It has to make do with few registers, too. With more, fewer blocks would fit, and some would have to
# wait for the others.
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: sum_source
#    :fold: The sum in CUDA C++, in one launch

# %%
# CUB and cuTENSOR: what CuPy hands on
# ------------------------------------
#
# For sums and the like CuPy has kernels of its own, and *accelerators*: libraries to which it can leave the
# work. Since version 11 it uses CUB unless told otherwise. The environment variable ``CUPY_ACCELERATORS``
# chooses for a whole process, and these calls choose for all that follows:

cp._core.set_routine_accelerators([])
without_cub = a.sum()
cp._core.set_routine_accelerators(["cub"])
print("without CUB:", without_cub, " with CUB:", a.sum())

# %%
# .. list-table:: 10\ :sup:`8` numbers, and a product of 2048 x 1024 by 1024 x 2048
#    :header-rows: 1
#
#    * - routine
#      - without CUB
#      - with CUB
#    * - ``cp.sum``
#      - :measured:`switched[sum_without, 10**8].time`
#      - :measured:`switched[sum_cub, 10**8].time`
#    * - ReductionKernel
#      - :measured:`switched[reduction_without, 10**8].time`
#      - :measured:`switched[reduction_cub, 10**8].time`
#    * - ``cp.cumsum`` of ``int64``
#      - :measured:`cumulative[cumsum_without, 10**8].time`
#      - :measured:`cumulative[cumsum_cub, 10**8].time`
#    * - CUB's scan of the same, in place
#      -
#      - :measured:`cumulative[cumsum_in_place, 10**8].time`
#    * - ``cp.einsum``
#      - :measured:`contraction[einsum_without, 2048].time`
#      - :measured:`contraction[einsum_cub, 2048].time`
#
# Without CUB, CuPy's own kernel has one block for each result, and a sum of all numbers has one result.
# ``cp.cumsum`` gains next to nothing from CUB: even with it, ``cp.cumsum`` reaches only
# :measured:`cumulative[cumsum_cub, 10**8].share` of the rate of a copy. CuPy copies the array first and then
# lets CUB add up in the copy, so each number is read and written twice. If the array itself may be
# overwritten, ``cub.device_scan`` of ``cupy.cuda.cub``, which CuPy calls there, does without the copy. It
# reads and writes each number once, is :measured:`cumulative[cumsum_in_place, 10**8].speedup(cumsum_cub)` as
# fast, and reaches :measured:`cumulative[cumsum_in_place, 10**8].share`. :evidence:`variant cumsum_in_place`
#
# CUB has nothing for a contraction such as this ``einsum``, and CuPy calls cuBLAS for it in both columns.
#
# *cuTENSOR*, a package of its own (``cutensor-cu13``), has contractions, and
# ``CUPY_ACCELERATORS=cub,cutensor`` asks for it. Without the package, CuPy accepts that setting and goes on
# as before. The package was not installed on the machine of this page, so we say nothing about its speed.
#
# .. kernel:: gpuguide.topics.kernel_families.accelerators
#    :names: using, cumulative_sum, in_place, contracted
#    :fold: CUB on and off
#
# .. results:: switched

# %%
# Which family for what
# ---------------------
#
# - If CuPy has the operation, take it. A call of ``cp.add`` keeps Python busy for
#   :measured:`add[add_ufunc, 2**28].launch`, the launch of a Numba kernel for
#   :measured:`add[add_four, 2**28].launch`, even with views made once, and that of a RawKernel for
#   :measured:`add[add_quads, 2**28].launch`.
# - ``cp.fuse`` makes one kernel of an expression, :doc:`within limits </gallery/fast_kernels/fusion>`.
# - Take an ElementwiseKernel or a ReductionKernel where it is easier to say what happens to one element.
# - ``@cuda.jit`` and RawKernel are for elements that need their neighbours, for :term:`shared memory`, and
#   for the last bit of bandwidth.

# %%
# Your turn: a reduction in any grouping
# --------------------------------------
#
# .. exercise:: any_grouping

# %%
# Next
# ----
#
# Onward: :doc:`Fusion </gallery/fast_kernels/fusion>`, on one kernel for several operations.
# Sideways: :doc:`Launch sizes </gallery/first_kernels/launch_sizes>`, on the shapes of grids.
