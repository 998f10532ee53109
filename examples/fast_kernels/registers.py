"""
Registers: use a local variable
===============================

How should a kernel carry a running product or sum?
"""
# %%
# Carry a running product or sum in a variable, and store it once, at the end. For 4096 layers this is
# :measured:`product[in_register, 4096].speedup(as_is)` as fast as multiplying into the output array, and as
# fast as ``cp.prod``, which takes one line. Then bring the kernel down to 32 registers per thread, so that
# more threads run at once.
#
# .. headline:: A variable catches up with cp.prod, and fewer registers win
#
# .. drawn:: registers
#
#     from gpuguide.charts.shapes import plot_values
#
#     names = {
#         "in the output array": "as_is",
#         "cp.prod": "cupy",
#         "in a variable": "in_register",
#         "and fewer registers": "one_index",
#     }
#     times = {label: results.time(name, 4096) for label, name in names.items()}
#     plot_values(times, "time of the product of 4096 layers")

# %%
# The mistake: the product in the output array
# --------------------------------------------
#
# Each of 4096 layers holds 512 × 512 numbers, and all layers are to be multiplied, as ``np.prod(x, axis=0)``
# does. A thread takes one place and walks through the layers. Neighbouring threads have neighbouring places,
# so every load is :term:`coalesced <coalesced access>`. The kernel below is right, and slow: it stores a
# product in every step of the loop. It runs on 64 layers here.
#
# .. rung:: as_is
#    :beside:

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
#    true: next to nothing is left of the products, and a kernel that only writes zeros would pass this check.
#    So test products with factors near 1.
#
# .. dropdown:: How the results were checked
#
#    With 4096 layers of factors from 0 to 1, :measured:`void_zero` of the products would be exactly 0, and
#    all but :measured:`void_left` would be 0 to six decimals. The factors that are timed here are powers of
#    two, and their exponents are multiples of 1/32 768. The sum of the exponents says what each product must
#    be, without a single multiplication.

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
# The cure: a variable, and one store at the end
# ----------------------------------------------
#
# A variable of a kernel lives in a :term:`register`, as long as there are enough of them.
#
# .. rung:: in_register
#    :beside:

out[:] = 0
in_register[blocks_per_grid, threads_per_block](x, out)
print("GPU:  ", out[0, :4])

# %%
# It reaches :measured:`product[in_register, 4096].share` of the memory's speed, where the first kernel
# reaches :measured:`product[as_is, 4096].share`.

# %%
# Why the array costs so much: the stores
# ---------------------------------------
#
# The first kernel looks as if it read ``out`` in every step of the loop, multiplied, and wrote it back. In
# fact it never reads it: the compiler knows what it has just stored, and keeps the product in a register,
# too. What it may not leave out are the stores. In CUDA C++, ``volatile`` demands the reads as well:
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: as_is_source, volatile_source

n_layers, n = np.int32(x.shape[0]), np.int32(out.size)
blocks = ((out.size + 511) // 512,)
out[:] = 0
cp.RawKernel(volatile_source, "product")(blocks, (512,), (x, out, n_layers, n))
print("GPU:  ", out[0, :4])

# %%
# The reads hardly matter: with them it takes :measured:`product[volatile, 4096].time`, and without them
# :measured:`product[cpp, 4096].time`. :evidence:`variant volatile` The stores do: without them, the same loop
# takes :measured:`product[one_load, 4096].time`. :evidence:`variant one_load`
#
# .. drawing:: registers
#
#     Two rows, each with a memory, an L2 cache and a multiprocessor. Above, in each turn a factor comes from
#     memory, and the product goes from the multiprocessor to the L2 cache. Below, factors come from memory,
#     and the product stays in a register; one store at the end goes to the L2 cache.
#
# .. dropdown:: Stores are fast, so what takes so long?
#
#    .. list-table:: 4096 layers in CUDA C++
#       :header-rows: 1
#
#       * - in the loop
#         - sectors written to L2
#         - time
#       * - read and written (``volatile``)
#         - :measured:`product[volatile, 4096].counter(l2_write_sectors)`
#         - :measured:`product[volatile, 4096].time`
#       * - written
#         - :measured:`product[cpp, 4096].counter(l2_write_sectors)`
#         - :measured:`product[cpp, 4096].time`
#       * - every eighth written
#         - :measured:`product[eighth, 4096].counter(l2_write_sectors)`
#         - :measured:`product[eighth, 4096].time`
#       * - not written
#         - :measured:`product[one_load, 4096].counter(l2_write_sectors)`
#         - :measured:`product[one_load, 4096].time`
#
#    Alone, :measured:`product[cpp, 4096].work(stores)` take :measured:`stores_alone`. All products together
#    are 2 MB, which stay in the L2 cache, and memory moves
#    :measured:`product[cpp, 4096].counter(dram_bytes)` with the stores or without.
#
#    It is the loads that take longer. A step of the loop with a load takes :measured:`turn_without`, and one
#    with a load and a store :measured:`turn_with`. The warps wait
#    :measured:`product[cpp, 4096].counter(stall_cycles)` clock cycles per instruction for what they load,
#    instead of :measured:`product[one_load, 4096].counter(stall_cycles)`. :evidence:`counter stall_cycles`
#    We have not found out why a store slows down the load that follows it. With a store in every eighth step,
#    it hardly shows.
#
#    Four products fill a sector, so the stores of the first two rows come to 268 million sectors. We think
#    that the counter shows half as many again because stores to the farther half of the L2 cache pass through
#    both halves. :evidence:`opinion`
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: one_load_source, eighth_source, stores_source
#    :fold: One load at a time, and stores alone

# %%
# In C++, __restrict__ does it too
# --------------------------------
#
# Why does the compiler not leave the stores out by itself? ``out`` might point into ``x``, and then the next
# factor would be what was just stored. In C++ you can promise that it does not:
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: restrict_source

out[:] = 0
cp.RawKernel(restrict_source, "product")(blocks, (512,), (x, out, n_layers, n))
print("GPU:  ", out[0, :4])

# %%
# This takes :measured:`product[restrict, 4096].time`. If the promise is broken, results are wrong without a
# warning. Numba has no such word, so in Python a variable is the only way.

# %%
# At most 32 registers per thread
# -------------------------------
#
# A multiprocessor has 65 536 registers and room for 2048 threads, which makes 32 for each thread. (On
# graphics cards of :term:`compute capability` 8.6 and 8.9 there is room for 1536 threads, with up to 40
# registers each.) A kernel that takes more leaves room for fewer threads, and the last blocks begin when
# others have ended. Each index of an array takes registers, for its stride, so let rows and columns share one
# index:
#
# .. rung:: one_index
#    :beside:

out[:] = 0
one_index[(out.size + 255) // 256, 256](x.reshape(len(x), -1), out.reshape(-1))
print("GPU:  ", out[0, :4])
for kernel in (in_register, one_index):
    print(max(kernel.get_regs_per_thread().values()), "registers per thread")

# %%
# Now all threads fit onto this GPU at once, and the product reaches
# :measured:`product[one_index, 4096].share` of the memory's speed. The quick way is to set a limit,
# ``@cuda.jit(max_registers=32)``, which reaches :measured:`product[fewer_registers, 4096].share` with two
# indices as before. :evidence:`variant fewer_registers` But a kernel that needs more registers than it may
# have keeps values in memory, which is called :term:`spilling` and can cost more than it gains.
#
# .. dropdown:: Where the rest of the gain comes from
#
#    With one index the GPU executes :measured:`product[one_index, 4096].counter(instructions)` instructions
#    instead of :measured:`product[in_register, 4096].counter(instructions)`, and we think that this is the
#    rest of the gain. :evidence:`opinion`

# %%
# The last bit: two factors per load
# ----------------------------------
#
# Finally, let each thread take two neighbouring places, and load 16 bytes at once. That makes half as many
# threads with twice as many bytes each, and takes a RawKernel in CUDA C++.
#
# .. kernel:: gpuguide.topics.registers.kernels
#    :names: pairs_source
#    :fold: The kernel in CUDA C++

# %%

# fold: Its launch
n_pairs = np.int32(out.size // 2)  # an even number of places
out[:] = 0
cp.RawKernel(pairs_source, "product")(
    ((out.size // 2 + 63) // 64,), (64,), (x, out, n_layers, n_pairs)
)
print("GPU:  ", out[0, :4])

# %%
# This reaches :measured:`product[pairs, 4096].share` of the memory's speed: each number is read once, and the
# memory is the limit. For a plain product, ask yourself whether that is worth it: ``cp.prod(x, axis=0)``
# reaches :measured:`product[cupy, 4096].share` in one line. The advice is for loops that CuPy does not have.

# draw
n = results.sizes[-1]
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
# .. kernel:: gpuguide.topics.registers.study
#    :names: launch_source, pairs, one_index, fewer_registers, limited, stores
#    :fold: The launches, and how stores are counted

# %%
# .. remember::
#
#    - Carry running results in a local variable, and store once: a product of 4096 layers is
#      :measured:`product[in_register, 4096].speedup(as_is)` as fast.
#    - Keep a kernel at 32 registers a thread, as ``kernel.get_regs_per_thread()`` says: a multiprocessor has
#      65 536, enough for all 2048 threads that it can hold.

# %%
# Your turn: carry values along
# -----------------------------
#
# A register also saves loads. The kernel in this exercise reads each number three times, and once is enough.
#
# .. exercise:: carry_values

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "output array": "as_is",
    "a variable": "in_register",
    "fewer registers": "one_index",
}
times = {label: results.time(name, 4096) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a running product")

# %%
# Next
# ----
#
# Next: :doc:`Shared memory: load once, read in any order </gallery/fast_kernels/shared_memory>`, for what the
# threads of a block share. See also:
# :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>`, on threads that fit.
