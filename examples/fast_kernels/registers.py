"""
Registers
=========

What does it cost to keep a running product in an array instead of a variable?
"""
# %%
# The product of 4096 layers, 8.6 GB, takes :measured:`product[as_is, 4096].time` if each factor is multiplied
# into the output array, and :measured:`product[in_register, 4096].time` if a variable holds the product. With
# one index, and so fewer registers per thread, it reaches :measured:`product[one_index, 4096].share` of what
# the memory can deliver, instead of :measured:`product[in_register, 4096].share`.
#
# .. rungs:: product
#    :at: 4096
#    :beside: cupy

# %%
# The product in the output array
# -------------------------------
#
# Each of 4096 layers holds 512 x 512 numbers, and the layers are to be multiplied. A thread takes one place
# and walks through all layers. Neighbouring threads have neighbouring places, so every load is
# :term:`coalesced <coalesced access>`. Here are 64 layers.
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
threads_per_block = (32, 16)
blocks_per_grid = (512 // 32, 512 // 16)
as_is[blocks_per_grid, threads_per_block](x, out)
print("GPU:  ", out[0, :4])
print("NumPy:", np.prod(x.get(), axis=0)[0, :4])

# %%
# .. try-it::
#
#    Take factors from 0 to 1, ``x = cp.random.random((64, 512, 512))``. Now ``np.allclose(out.get(), 0)`` is
#    true: next to nothing is left of the products, and a kernel that only writes zeros would pass this
#    check. If all 4096 layers were equal, :measured:`void_zero` of such products would be exactly 0, and all
#    but :measured:`void_left` would be 0 to six decimals.
#
# So a check of products needs factors near 1. Those that are timed here are powers of two, and their
# exponents are multiples of 1/32 768. The sum of the exponents says what each product must be, without a
# single multiplication.

# %%

# record: The product in eleven ways, each compared with the sum of the exponents
import gpuguide as gg
from gpuguide.measure.timing import time_device
from gpuguide.measure.turns import gpu_clock
from gpuguide.topics.registers import study as registers
from gpuguide.topics.registers.kernels import (
    as_is_source,
    eighth_source,
    in_register,
    one_index,
    one_load_source,
    pairs_source,
    restrict_source,
    stores_source,
    volatile_source,
)

results = registers.product.run()
with gpu_clock().use():
    alone = registers.stores_alone(4096)
seconds = time_device(alone, gpu_clock(), n_samples=20).seconds
gg.fact("stores_alone", float(np.median(seconds)), unit="s", samples=seconds)
void_zero, void_small = registers.void_check()
gg.fact("void_zero", void_zero, unit="share", note="products that are exactly 0")
_ = gg.fact(
    "void_small", void_small, unit="share", note="products that are 0 to six decimals"
)

# %%
# A variable holds the product in a register
# ------------------------------------------
#
# A variable of a kernel lives in a :term:`register`, if there are enough of them. The product is stored once,
# at the end:
#
# .. rung:: in_register
#    :counter: occupancy

out[:] = 0
in_register[blocks_per_grid, threads_per_block](x, out)
print("GPU:  ", out[0, :4])

# %%
# The slides that this experiment comes from promise more of it, :claimed:`s4_register`
# (:doc:`Then and now </practice/then_and_now>`). Here it is
# :measured:`product[in_register, 4096].speedup(as_is)`, although fewer warps are resident now, of which more
# below. What was it that cost so much? The first kernel looks as if it read ``out`` in every turn of the
# loop, multiplied, and wrote it back.

# %%
# volatile, and fewer stores: what the array costs
# ------------------------------------------------
#
# In fact it does not read ``out`` at all. The compiler knows what it has just stored there, and keeps the
# product in a register, too. In CUDA C++ ``volatile`` forbids that: every read and every write must happen.
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: as_is_source, volatile_source

n_layers, n = np.int32(x.shape[0]), np.int32(out.size)
blocks = ((out.size + 511) // 512,)
out[:] = 0
cp.RawKernel(volatile_source, "product")(blocks, (512,), (x, out, n_layers, n))
print("GPU:  ", out[0, :4])

# %%
# The first two rows of the table show what that costs. The kernels of the other two have a variable, and load
# one factor at a time; they differ only in how many products they store.
#
# .. list-table:: 4096 layers in CUDA C++
#    :header-rows: 1
#
#    * - in the loop
#      - sectors written to L2
#      - time
#    * - read and written (``volatile``)
#      - :measured:`product[volatile, 4096].counter(l2_write_sectors)`
#      - :measured:`product[volatile, 4096].time`
#    * - written
#      - :measured:`product[cpp, 4096].counter(l2_write_sectors)`
#      - :measured:`product[cpp, 4096].time`
#    * - every eighth written
#      - :measured:`product[eighth, 4096].counter(l2_write_sectors)`
#      - :measured:`product[eighth, 4096].time`
#    * - not written
#      - :measured:`product[one_load, 4096].counter(l2_write_sectors)`
#      - :measured:`product[one_load, 4096].time`
#
# Four products fill a sector, so the stores of the first two rows come to 268 million sectors. We think that
# the counter shows half as many again because stores to the farther half of the L2 cache pass through both
# halves. :evidence:`opinion`
#
# Reading the product back costs little. :evidence:`variant volatile` Without the stores, the kernel takes far
# less time. :evidence:`variant one_load` And yet stores are fast: alone,
# :measured:`product[cpp, 4096].work(stores)` take :measured:`stores_alone`. All products together are 2 MB,
# which stay in the L2 cache, and memory moves :measured:`product[cpp, 4096].counter(dram_bytes)` with the
# stores or without.
#
# It is the loads that take longer. A turn of the loop with a load takes :measured:`turn_without`, and one
# with a load and a store :measured:`turn_with`. The warps wait
# :measured:`product[cpp, 4096].counter(stall_cycles)` clock cycles per instruction for what they load,
# instead of :measured:`product[one_load, 4096].counter(stall_cycles)`. :evidence:`counter stall_cycles` We
# have not found out why a store slows down the load that follows it. With a store in every eighth turn, it
# hardly shows.
#
# .. drawing:: registers
#
#     Two rows, each with a memory, an L2 cache and a multiprocessor. Above, in each turn a factor comes from
#     memory, and the product goes from the multiprocessor to the L2 cache. Below, factors come from memory,
#     and the product stays in a register; one store at the end goes to the L2 cache.
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: one_load_source, eighth_source, stores_source
#    :fold: One load at a time, and stores alone

# %%
# __restrict__: a promise instead of a variable
# ---------------------------------------------
#
# Why does the compiler not leave the stores out by itself? ``out`` might point into ``x``. Then the next
# factor would be what was just stored. The programmer knows better, and in C++ can say so with one word:
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: restrict_source

out[:] = 0
cp.RawKernel(restrict_source, "product")(blocks, (512,), (x, out, n_layers, n))
print("GPU:  ", out[0, :4])

# %%
# Now it takes :measured:`product[restrict, 4096].time`. If the promise is broken, results are wrong without a
# warning. Numba has no such word, so in Python a variable is the only way.

# %%
# At most 32 registers per thread, or some threads have to wait
# -------------------------------------------------------------
#
# ``cp.prod(x, axis=0)`` takes :measured:`product[cupy, 4096].time`, and our kernel with its variable takes
# about as long. What is missing? A multiprocessor has 65 536 registers and room for 2048 threads. That makes
# 32 for each thread; if a kernel takes more, fewer threads fit. Each index of an array takes registers, for
# its stride. So let rows and columns share one index:
#
# .. rung:: one_index
#    :counter: occupancy

out[:] = 0
one_index[(out.size + 255) // 256, 256](x.reshape(len(x), -1), out.reshape(-1))
print("GPU:  ", out[0, :4])
for kernel in (in_register, one_index):
    print(max(kernel.get_regs_per_thread().values()), "registers per thread")

# %%
# With 512 x 512 products, all threads fit onto this GPU at once if none takes more than 32 registers.
# Otherwise the last blocks begin when others have ended, with most of the GPU idle. That is a part of the
# gain: with two indices and a limit, ``@cuda.jit(max_registers=32)``, the product reaches
# :measured:`product[fewer_registers, 4096].share` of the memory's rate, with one index
# :measured:`product[one_index, 4096].share`, and with neither :measured:`product[in_register, 4096].share`.
# :evidence:`variant fewer_registers` We think that the rest comes from fewer instructions,
# :measured:`product[one_index, 4096].counter(instructions)` instead of
# :measured:`product[in_register, 4096].counter(instructions)`. :evidence:`opinion` And a limit has a price: a
# kernel that needs more registers than it may have keeps values in memory, which is called :term:`spilling`.

# %%
# Two factors per load
# --------------------
#
# Finally, let each thread take two neighbouring places, and load 16 bytes at once. That makes half as many
# threads with twice as many bytes each.
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: pairs_source
#
# .. rung:: pairs

n_pairs = np.int32(out.size // 2)  # an even number of places
out[:] = 0
cp.RawKernel(pairs_source, "product")(
    ((out.size // 2 + 63) // 64,), (64,), (x, out, n_layers, n_pairs)
)
print("GPU:  ", out[0, :4])

# %%
# Result: as fast as the memory
# -----------------------------

# draw
from gpuguide.charts.shapes import plot_dots

labels = {
    "pairs": "two per load, C++",
    "restrict": "__restrict__, C++",
    "one_index": "a variable, one index",
    "fewer_registers": "at most 32 registers",
    "in_register": "a variable",
    "one_load": "one load a turn, C++",
    "cupy": "cp.prod",
    "eighth": "eighth stored, C++",
    "as_is": "output array",
    "cpp": "output array, C++",
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
#    With two factors per load the product reaches :measured:`product[pairs, 4096].share` of the memory's
#    rate, with ``__restrict__`` :measured:`product[restrict, 4096].share`, in Numba
#    :measured:`product[one_index, 4096].share`. As it was first written, it reaches
#    :measured:`product[as_is, 4096].share`.

# draw
for name, variant in (("turn_with", "cpp"), ("turn_without", "one_load")):
    seconds = results.time(variant, n).value / n
    gg.fact(name, seconds, unit="s", note=f"time of {variant} / layers")
void_left = 1 - facts["void_small"].value
gg.fact("void_left", void_left, unit="share", note="not 0 to six decimals")
gg.claim(results, "pairs", share_at_least=0.85, at=n)
gg.claim(results, "one_index", share_at_least=0.85, at=n)
gg.claim(results, "pairs", faster_than="cupy", at=n)
gg.claim(results, "one_index", faster_than=("in_register", "cupy"), at=n)
gg.claim(results, "in_register", faster_than="as_is", at=n, by=1.5)
gg.claim(results, "one_load", faster_than="cpp", at=n, by=1.5)

# %%
# Now the memory is the limit, and each number is read once.
#
# .. results:: product
#
# .. kernel:: gpuguide.topics.registers.study
#    :names: launch_source, pairs, one_index, fewer_registers, limited, stores
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
# Onward: :doc:`Streams </gallery/concurrency/streams>`, on several kernels at once. Sideways: :doc:`Launch
# sizes </gallery/first_kernels/launch_sizes>`, on threads that fit, and bytes in flight.
