"""
Registers
=========

What does it cost to keep a running product in an array instead of a variable?
"""
# %%
# The product of 4096 layers, 8.6 GB, takes :measured:`product[in_register, 4096].time` if a variable holds
# it: :measured:`product[in_register, 4096].share` of what the memory can deliver. In the output array it
# takes :measured:`product[as_is, 4096].time`. The array is not slow to reach. Its stores keep the loads from
# overlapping.

# %%
# The product in the output array
# -------------------------------
#
# Each of 4096 layers holds 512 x 512 numbers, and the layers are to be multiplied. A thread takes one place
# and walks through all layers. Neighbouring threads have neighbouring places, so every load is coalesced.
# Here are 64 layers.
#
# .. rung:: as_is

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def as_is(x, out):
    """Multiply every factor into the output array."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = 1.0
        for z in range(x.shape[0]):
            out[row, col] *= x[z, row, col]


x = cp.exp2(cp.random.uniform(-0.03, 0.03, (64, 512, 512)))  # factors near 1
out = cp.empty((512, 512))
threads_per_block = (32, 8)
blocks_per_grid = (512 // 32, 512 // 8)
as_is[blocks_per_grid, threads_per_block](x, out)
print("GPU:  ", out[0, :4])
print("NumPy:", np.prod(x.get(), axis=0)[0, :4])

# %%
# .. try-it::
#
#    Take factors from 0 to 1, ``x = cp.random.random((64, 512, 512))``. Now ``np.allclose(out.get(), 0)`` is
#    true: next to nothing is left of the products, and a kernel that only writes zeros would pass this
#    check. If all 4096 layers were equal, :measured:`void_zero` of such products would be exactly 0, and
#    :measured:`void_small` would be 0 to six decimals.
#
# So a check of products needs factors near 1. Those that are timed here are powers of two with exponents that
# are whole numbers over 32 768. Their sum says what the product must be, and nothing is multiplied for it.

# %%

# record: The product in eight ways, each compared with the sum of the exponents
import gpuguide as gg
from gpuguide.topics.registers import study as registers
from gpuguide.topics.registers.kernels import (
    as_is_source,
    in_register,
    loads_first_source,
    one_load_source,
    restrict_source,
    volatile_source,
)

results = registers.study().run()
void_zero, void_small = registers.void_check()
gg.fact("void_zero", void_zero, unit="share", note="products that are exactly 0")
gg.fact(
    "void_small", void_small, unit="share", note="products that are 0 to six decimals"
)

# %%
# A variable holds the product in a register
# ------------------------------------------
#
# A variable of a kernel lives in a :term:`register`, as long as there are enough of them. Store the product
# once, at the end:
#
# .. rung:: in_register

out[:] = 0
in_register[blocks_per_grid, threads_per_block](x, out)
print("GPU:  ", out[0, :4])

# %%
# That is all it takes. CuPy's ``cp.prod(x, axis=0)`` needs :measured:`product[cupy, 4096].time`. Tutorials
# promise more of this step, :claimed:`s4_register` for instance. Here it is
# :measured:`product[in_register, 4096].speedup(as_is)`, and the reason is not the one that is usually given.

# %%
# volatile: what an accumulator in memory would cost
# --------------------------------------------------
#
# The first kernel looks as if it read ``out`` in every turn. It does not: the compiler knows what it has just
# stored there, and keeps the product in a register, too. What is left in the loop is a load of ``x`` and a
# store. In CUDA C++ ``volatile`` forbids that. It says that ``out`` may change at any time, so that every
# read and every write must happen.
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: as_is_source, volatile_source

n_layers, n = np.int32(x.shape[0]), np.int32(out.size)
blocks = ((out.size + 255) // 256,)
out[:] = 0
cp.RawKernel(volatile_source, "product")(blocks, (256,), (x, out, n_layers, n))
print("GPU:  ", out[0, :4])

# %%
# .. list-table:: 4096 layers, by what stands in the loop
#    :header-rows: 1
#
#    * - ``out`` in the loop
#      - time
#      - sectors to the L2 cache
#      - from and to memory
#    * - read and written (``volatile``)
#      - :measured:`product[volatile, 4096].time`
#      - :measured:`product[volatile, 4096].counter(l2_write_sectors)`
#      - :measured:`product[volatile, 4096].counter(dram_bytes)`
#    * - written (as is, C++)
#      - :measured:`product[cpp, 4096].time`
#      - :measured:`product[cpp, 4096].counter(l2_write_sectors)`
#      - :measured:`product[cpp, 4096].counter(dram_bytes)`
#    * - written (as is, Numba)
#      - :measured:`product[as_is, 4096].time`
#      - :measured:`product[as_is, 4096].counter(l2_write_sectors)`
#      - :measured:`product[as_is, 4096].counter(dram_bytes)`
#    * - not at all (Numba)
#      - :measured:`product[in_register, 4096].time`
#      - :measured:`product[in_register, 4096].counter(l2_write_sectors)`
#      - :measured:`product[in_register, 4096].counter(dram_bytes)`
#
# ``volatile`` is :measured:`product[in_register, 4096].speedup(volatile)` as slow as the register. The kernel
# as it was written stores :measured:`product[as_is, 4096].work(stores)` numbers and the one with a variable
# :measured:`product[in_register, 4096].work(stores)`. But all products together are 2 MB, which stay in the
# L2 cache, and the memory does not see them. So what do the stores cost?

# %%
# A store keeps the next load waiting
# -----------------------------------
#
# Two more kernels answer that. One has a variable, but must load one factor at a time. The other one stores
# every product, but loads four factors before it does.
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: loads_first_source

out[:] = 0
cp.RawKernel(loads_first_source, "product")(blocks, (256,), (x, out, n_layers, n))
print("GPU:  ", out[0, :4])

# %%
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: one_load_source
#    :fold: One load at a time
#
# .. list-table:: 4096 layers
#    :header-rows: 1
#
#    * -
#      - one load at a time
#      - four loads at a time
#    * - every product is stored
#      - :measured:`product[cpp, 4096].time`
#      - :measured:`product[loads_first, 4096].time`
#    * - the last one is stored
#      - :measured:`product[one_load, 4096].time`
#      - :measured:`product[in_register, 4096].time`
#
# The columns differ, and the rows hardly do. A thread that loads one factor waits for it, multiplies, and
# only then asks for the next one. :evidence:`variant one_load` With four loads at a time, the stores cost
# little. :evidence:`variant loads_first`
#
# .. drawing:: registers
#
#     Two rows over time. Above, a load, a wait, a multiplication and a store follow one another, and only
#     then comes the next load. Below, four loads start one right after the other, their waits overlap, and
#     four multiplications follow.
#
# The compiler puts four turns of a loop into one by itself. But it may not move a load across a store, since
# ``out`` might point into ``x``: then the next factor would be what was just stored.

# %%
# __restrict__: a promise about pointers
# --------------------------------------
#
# The programmer knows that the arrays do not overlap, and in C++ can say so. Then one word is enough, and
# the store leaves the loop.
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: restrict_source

out[:] = 0
cp.RawKernel(restrict_source, "product")(blocks, (256,), (x, out, n_layers, n))
print("GPU:  ", out[0, :4])

# %%
# With the promise it takes :measured:`product[restrict, 4096].time`. If it is broken, the result is wrong,
# without a warning. Numba has no such word, so in Python the variable is the only way.

# %%
# Result: as fast as the memory
# -----------------------------

# draw
from gpuguide.charts.shapes import plot_dots

labels = {
    "in_register": "a variable, Numba",
    "restrict": "__restrict__, C++",
    "loads_first": "every product stored, four loads first, C++",
    "cupy": "cp.prod",
    "one_load": "a variable, one load at a time, C++",
    "cpp": "every product stored, C++",
    "as_is": "every product stored, Numba",
    "volatile": "volatile, C++",
}
n = results.sizes[-1]
_ = plot_dots(
    {label: results.time(name, n) for name, label in labels.items()},
    "time of 4096 layers",
)

# %%
# .. finding::
#
#    The kernels that load several factors at a time reach the memory's rate: with a variable
#    :measured:`product[in_register, 4096].share` of it, with ``__restrict__``
#    :measured:`product[restrict, 4096].share`. The one as it was written reaches
#    :measured:`product[as_is, 4096].share`.

# draw
gg.claim(results, "in_register", share_at_least=0.98, at=n)
gg.claim(results, "in_register", faster_than=("as_is", "one_load"), at=n, by=1.5)
gg.claim(results, "in_register", faster_than="cupy", at=n)
gg.claim(results, "cpp", faster_than="volatile", at=n, by=1.2)

# %%
# Now the memory is the limit, and each number is read once. The rule behind it holds for every kernel that
# waits for memory: what counts is how many bytes are asked for at the same time.
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` gets them with more elements per thread.
#
# .. results:: product
#
# .. kernel:: gpuguide.topics.registers.study
#    :names: launch_source, product_as_is, product_in_register, product_cupy, stores, one_store
#    :fold: The launches, and how stores are counted

# %%
# Your turn: carry values along
# -----------------------------
#
# A register also saves loads. The kernel in this exercise reads each number three times, and once is enough.
#
# .. exercise:: carry_values

# %%
# Next
# ----
#
# Onward: :doc:`Streams </gallery/concurrency/streams>`, on several kernels at once. Sideways:
# :doc:`Numba's types </gallery/first_kernels/numba_types>`, on what else a compiler makes of a loop.
