"""
Kernel families
===============

Eight ways to add two arrays: which is short, which is quick to compile, and which is fast?
"""
# %%
# All routes reach the same memory. ``cp.add`` is one line, and reaches
# :measured:`add[add_ufunc, 2**28].share` of what memory allows for ``float32``; thirteen lines of Numba
# reach :measured:`add[add_four, 2**28].share`. It is not the route that decides but how many bytes each
# thread asks for. For sums, ``cp.sum`` is hard to beat.
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
#    * - ElementwiseKernel
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
#    * - RawKernel, ``float4``
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
#    * - ``cp.fuse``
#      - 4
#      - :measured:`first_sum_fused`
#      - :measured:`total[sum_fused, 2**28].time`
#      - :measured:`total[sum_fused, 2**28].share`
#    * - ReductionKernel
#      - 2
#      - :measured:`first_sum_reduction`
#      - :measured:`total[sum_reduction, 2**28].time`
#      - :measured:`total[sum_reduction, 2**28].share`
#    * - RawKernel, ``float4``
#      - 28
#      - :measured:`first_sum_quads`
#      - :measured:`total[sum_quads, 2**28].time`
#      - :measured:`total[sum_quads, 2**28].share`
#    * - ``@cuda.jit``
#      - 24
#      - :measured:`first_sum_blocks`
#      - :measured:`total[sum_blocks, 2**28].time`
#      - :measured:`total[sum_blocks, 2**28].share`
#
# *Lines* are those that you write, *first call* is in a fresh process with an empty kernel cache, and *share*
# is that of the :term:`ceiling` for this mix of reading and writing.

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
#    Make ``b`` an array of whole numbers. The ufunc and the fused function convert it. The ElementwiseKernel
#    raises ``TypeError``, because ``T`` cannot stand for two types at once.

# %%

# record: The studies: two additions and a sum by every route, CUB on and off, and the first calls
import gpuguide as gg
from gpuguide.topics.kernel_families import accelerators, fresh
from gpuguide.topics.kernel_families import study as families
from gpuguide.topics.kernel_families.kernels import add_four, add_source, sum_blocks

results = families.study().run()
doubles = families.double_study().run()
totals = families.total_study().run()
cumulative = accelerators.cumulative_study().run()
contraction = accelerators.contraction_study().run()
for name, seconds in fresh.measure_first_calls().items():
    _ = gg.fact(f"first_{name}", seconds, unit="s", note="in a fresh process")

# %%

# draw
gg.claim(results, "add_four", faster_than="add_ufunc", at=2**28, by=1.5)
gg.claim(results, "add_four", share_at_least=0.97, at=2**28)
gg.claim(doubles, "double_ufunc", share_at_least=0.95, at=5 * 10**7)
gg.claim(totals, "sum_blocks", share_at_least=0.97, at=2**28)

# %%
# RawKernel, cupyx.jit and @cuda.jit: the grid is yours
# -----------------------------------------------------
#
# A RawKernel is a whole kernel in CUDA C++, which CuPy hands to the compiler as it is. You choose grid and
# block, and you may say how many bytes a thread loads at once: ``float4`` is four numbers, 16 bytes.
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: add_source
#
# .. rung:: add_quads

raw_addition = cp.RawKernel(add_source, "add_quads")
n_blocks = (a.size + 1023) // 1024
raw_addition((n_blocks,), (256,), (a, b, out, np.int64(a.size)))
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# Numba has no type of 16 bytes. But it can have as much on the way: each thread loads four numbers of each
# array before it stores the first.
#
# .. rung:: add_four

from numba import cuda

add_four[(a.size + 1023) // 1024, 256](a, b, out)
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# ``cupyx.jit`` translates a kernel from Python to CUDA C++. It is launched like a RawKernel, and CuPy warns
# that it is experimental.
#
# .. kernel:: gpuguide.topics.kernel_families.functions
#    :names: jit_addition, numba_addition
#    :fold: The kernel for cupyx.jit, and the ufunc of @vectorize
#
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: add_one
#    :fold: The Numba kernel with one element per thread

# %%
# Bytes per thread, not the route
# -------------------------------

# draw
from gpuguide.charts.shapes import plot_dots

ways = [
    "add_ufunc",
    "add_fused",
    "add_elementwise",
    "add_single",
    "add_jit",
    "add_numba_ufunc",
    "add_one",
    "add_pairs",
    "add_quads",
    "add_four",
]
plot_dots(
    {results.variant(name).label: results.share(name, 2**28) for name in ways},
    "share of the ceiling",
)

# %%
# .. finding::
#
#    One number per thread reaches :measured:`add[add_ufunc, 2**28].share` to
#    :measured:`add[add_numba_ufunc, 2**28].share`, by whatever route. Two at a time, ``cp.add`` itself
#    reaches :measured:`add[add_pairs, 2**28].share`.
#
# CuPy's kernels are slow here because each of their threads has one number, in blocks of 128. A RawKernel
# with that grid takes :measured:`add[add_single, 2**28].time`, and ``cp.add``
# :measured:`add[add_ufunc, 2**28].time`. :evidence:`variant add_single`
#
# The cure may be one line. Seen as complex numbers, two neighbours are one element of eight bytes, and a
# complex addition adds both parts.
#
# .. rung:: add_pairs

pairs = [x.view(cp.complex64) for x in (a, b, out)]
cp.add(pairs[0], pairs[1], out=pairs[2])
print("as cp.add:", bool((out == cp.add(a, b)).all()))

# %%
# Numbers of eight bytes need no cure. For 5 * 10\ :sup:`7` of ``float64``, ``cp.add`` reaches
# :measured:`double[double_ufunc, 5*10**7].share`, and an ElementwiseKernel
# :measured:`double[double_elementwise, 5*10**7].share`.

# %%
# A sum: ReductionKernel, and sums of blocks
# ------------------------------------------
#
# A reduction makes one number of many. A ``ReductionKernel`` needs four expressions: what to take of each
# element, how to put two results together, what to store, and what to begin with.
#
# .. rung:: sum_reduction

total = cp.ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "total")
print(
    "ReductionKernel:",
    total(a),
    " cp.sum:",
    a.sum(),
    " in float64:",
    a.sum(dtype=cp.float64),
)

# %%
# With a kernel of your own, each block adds up a part, and a second launch adds up what the blocks have
# left.
#
# .. rung:: sum_blocks

parts, result = cp.empty(1056, dtype=cp.float32), cp.empty(1, dtype=cp.float32)
sum_blocks[1056, 256](a, parts)
sum_blocks[1, 256](parts, result)
print("sum_blocks:     ", result[0])

# %%
# .. kernel:: gpuguide.topics.kernel_families.kernels
#    :names: sum_source
#    :fold: The sum in CUDA C++

# %%
# CUB and cuTENSOR: what CuPy hands on
# ------------------------------------
#
# For some routines CuPy has two kernels: its own, and one of a library that it calls an accelerator.

print("routines:  ", cp._core.get_routine_accelerators())
print("reductions:", cp._core.get_reduction_accelerators())
cp._core.set_routine_accelerators([])
slow = a.sum()
cp._core.set_routine_accelerators(["cub"])
print("the same sum:", bool(cp.isclose(slow, a.sum())))

# %%
# .. list-table::
#    :header-rows: 1
#
#    * -
#      - without CUB
#      - with CUB
#    * - ``cp.sum``
#      - :measured:`total[sum_without, 2**28].time`
#      - :measured:`total[sum_cupy, 2**28].time`
#    * - ReductionKernel
#      - :measured:`total[reduction_without, 2**28].time`
#      - :measured:`total[sum_reduction, 2**28].time`
#    * - ``cp.cumsum``
#      - :measured:`cumulative[cumsum_without, 10**8].time`
#      - :measured:`cumulative[cumsum_cub, 10**8].time`
#    * - ``cp.einsum``
#      - :measured:`contraction[einsum_without, 2048].time`
#      - :measured:`contraction[einsum_cub, 2048].time`
#
# *cuTENSOR* is a package of its own, for contractions such as this ``einsum``. It was not installed on the
# machine of this page, so it has no column. Where it is, the study times it, too.
#
# .. kernel:: gpuguide.topics.kernel_families.accelerators
#    :names: accelerators, cumulative, contraction, has_cutensor
#    :fold: CUB on and off

# %%
# Which family for what
# ---------------------
#
# - A ufunc or ``cp.sum``, if CuPy has the operation;
# - ``cp.fuse``, if you have the expression in Python, and :doc:`its limits </gallery/fast_kernels/fusion>`
#   do not matter;
# - an ElementwiseKernel or a ReductionKernel for an operation that is easier to say for one element;
# - ``@cuda.jit`` or a RawKernel for neighbours, :term:`shared memory`, or the last third of the bandwidth.

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
