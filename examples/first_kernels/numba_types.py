"""
Types: keep kernels in 32 bits
==============================

Why does a kernel on float32 arrays compute in float64, and how do you stop it?
"""
# %%
# Put ``np.float32`` around every constant of a kernel on ``float32`` arrays. With plain Python floats it
# computes in ``float64``, which takes :measured:`level[float32_only, 2**26].speedup(python_floats)` as
# long here, and far longer on graphics cards. Nothing warns you.
#
# .. headline:: float32 constants are the cure; rounding each result makes it worse
#
# .. drawn:: numba_types
#
#     from gpuguide.charts.shapes import plot_values
#
#     names = {
#         "Python floats": "python_floats",
#         "each step rounded": "rounded_steps",
#         "float32 constants": "float32_only",
#     }
#     times = {label: results.time(name, 2**26) for label, name in names.items()}
#     plot_values(times, "time of three kernels for 2**26 patients")

# %%
# The wider type wins
# -------------------
#
# Before Numba compiles a kernel, it gives each variable one type, which is called :term:`type inference`. An
# element has the type of its array, and a number typed into the code has Python's type, where floats have 64
# bits. Where two types meet, the wider one wins: ``float32`` plus a Python float is ``float64``. The result
# that goes into a ``float32`` array is rounded without a word.
#
# .. drawing:: numba_types
#
#     Three ways from one element to the next array, in bars as high as their bits. With Python's numbers the
#     element is widened once, all doses are computed in 64 bits, and the result is rounded. With rounded
#     steps it is widened and rounded again for every dose. With float32 only it keeps its 32 bits all the
#     way.
#
# The kernel below works out how much of a drug a patient has in the blood after 128 doses of 2.5 units, when
# a share ``kept`` remains from each dose to the next. Look for ``f64`` in its :term:`PTX`, the compiler's
# output: it shows which types the kernel works in.
#
# .. rung:: python_floats
#    :beside:

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def python_floats(kept, level):
    """Each thread gives a patient 128 doses; the constants are Python's floats."""
    i = cuda.grid(1)
    if i < level.size:
        x = 0.0
        for _ in range(128):
            x = (x + 2.5) * kept[i]
        level[i] = x


def show(kernel):
    (ptx,) = kernel.inspect_asm().values()
    print(
        "GPU:  ", level[::16_384], "and f64 stands in the PTX", ptx.count(".f64"), "times"
    )


kept = cp.arange(65_536, dtype=cp.float32) / 65_536
level = cp.empty_like(kept)
python_floats[256, 256](kept, level)
show(python_floats)
x = np.zeros(4, np.float32)
for _ in range(128):
    x = (x + 2.5) * np.float32([0, 0.25, 0.5, 0.75])
print("NumPy:", x)

# %%
# .. try-it::
#
#    Write ``np.float32(0.0)`` and ``np.float32(2.5)`` in the kernel and run the cell again. The levels change
#    in the last digits at most, and ``f64`` is gone from the PTX. Take ``np.float32`` away from one of the
#    two, and all of it is back.
#
# NumPy differs here: the array decides, and the whole loop has 32 bits. Numba's ``@vectorize`` is like a
# kernel: with ``float32(float32)`` as its signature, ``x * 0.5 + 0.25`` is still computed in ``float64``.

# %%

# record: The kernels of this page
import gpuguide as gg
from gpuguide.topics.numba_types.kernels import (
    float32_only,
    one_left,
    own_counter,
    range_int32,
    range_int64,
    rounded_steps,
)

# %%
# Do not round the result: round the constants
# --------------------------------------------
#
# The obvious repair is to put ``np.float32`` around the result. But what goes into the formula is still a
# Python float. Each dose is now widened, computed in 64 bits and rounded again.
#
# .. rung:: rounded_steps
#    :beside:

rounded_steps[256, 256](kept, level)
show(rounded_steps)

# %%
# That is the worst of both: it takes :measured:`level[python_floats, 2**26].speedup(rounded_steps)` as long
# as the kernel with Python floats. Conversions between the two types are what costs here.
# :evidence:`count float_instructions`
#
# .. dropdown:: Why conversions cost more than arithmetic
#
#    For this GPU, `NVIDIA lists
#    <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#arithmetic-instructions>`__ 16 conversions per
#    clock cycle and multiprocessor, and 64 operations in ``float64``. Two conversions per dose take as long
#    as eight operations, and with Python floats a whole dose is one operation, which multiplies and adds at
#    once. The PTX mentions ``f64`` as often in both: with rounded steps the compiler repeats the body for 32
#    doses, with four instructions each, and loops over them; with Python floats it wrote out all 128.

# %%
# One constant left over spoils all
# ---------------------------------
#
# A variable has one type in the whole kernel. If the formula is clean and only the start is a Python ``0.0``,
# ``x`` is ``float64`` on all lines, and the kernel is as slow as the first.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: one_left
#    :fold: The kernel with one Python float left over

# %%

# fold: Its launch
one_left[256, 256](kept, level)
show(one_left)

# %%
# Write both constants in 32 bits:
#
# .. rung:: float32_only
#    :beside:

float32_only[256, 256](kept, level)
show(float32_only)

# %%

# record: The studies: four kernels at six sizes, and the same doses in float64 arrays
from gpuguide.topics.numba_types import study as numba_types

results = numba_types.level.run()
wide = numba_types.wide.run()

# %%
# Now no ``f64`` is left. Look for it in kernels of your own, since no test of results finds this mistake: all
# four kernels agree with the reference as closely as ``float32`` allows, and the ones in 64 bits are merely
# slower.
#
# .. dropdown:: From which size on it shows, and what the units could do
#
#    ``float64`` arrays take as long as ``float32`` arrays with Python floats,
#    :measured:`wide[float64_arrays, 2**26].time`, though they move twice the bytes.
#    :evidence:`variant float64_arrays`
#
#    .. drawn:: numba_types
#
#        gg.plot_time(results, variants=["python_floats", "rounded_steps", "float32_only"])
#
#    The GPU can do twice as many ``float32`` as ``float64`` operations per clock cycle. The gain stays below
#    that: this kernel reaches :measured:`level[float32_only, 2**26].flop_share` of what the ``float32`` units
#    can do, and Python floats reach :measured:`level[python_floats, 2**26].flop_share` of theirs.

# draw
gg.claim(results, "float32_only", faster_than="python_floats", at=2**26, by=1.3)
gg.claim(results, "python_floats", faster_than="rounded_steps", at=2**26, by=6)

# %%
# Short loops: write while instead of range
# -----------------------------------------
#
# Whole numbers have 64 bits, too: those typed into a kernel, those passed to it from Python, and the result
# of ``cuda.grid``. A GPU's integer units have 32 bits and take at least two instructions for 64. This shows
# where a loop's body is short and its length is an argument, such as the number of doses here. Numba's
# ``range`` keeps a count of what is left, and lowers it only if it is above 0:
#
# .. rung:: range_int64
#    :beside:

range_int64[256, 256](kept, 128, level)
print(level[::16_384])

# %%
# With ``range(np.int32(doses))``, counting takes half the instructions, and the kernel takes
# :measured:`counters[range_int32, 2**24].time`.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: range_int32
#    :fold: The kernel that counts in 32 bits

# %%

# fold: Its launch
range_int32[256, 256](kept, 128, level)
print(level[::16_384])

# %%
# A ``while`` loop is cheaper still, though its counter has 64 bits. The compiler recognises it as a counter,
# and checks it once for several doses.
#
# .. rung:: own_counter
#    :beside:

own_counter[256, 256](kept, 128, level)
print(level[::16_384])

# %%
# .. kernel:: gpuguide.topics.numba_types.instructions
#    :names: float_instructions, counting_words
#    :fold: How instructions are counted

# %%

# record: Instructions in the code of each kernel, and the study of counters
from gpuguide.topics.numba_types.instructions import counting_words, float_instructions

for kernel in (rounded_steps, one_left, float32_only):
    ptx = next(iter(kernel.inspect_asm().values()))
    found = float_instructions(ptx)
    for kind in ("float32", "float64", "conversions"):
        gg.fact(
            f"{kernel.__name__}_{kind}", getattr(found, kind), unit="1", note="in the PTX"
        )
    print(f"{kernel.__name__:14} {found}")

counters = numba_types.counters.run()
for kernel in (range_int64, range_int32, own_counter):
    ptx = next(iter(kernel.inspect_asm().values()))
    words = gg.fact(f"words_{kernel.__name__}", int(counting_words(ptx)), unit="1")
    print(f"{kernel.__name__:14} {words.value} words of 32 bits per dose, in the PTX")

# %%
# The ``while`` loop is :measured:`counters[own_counter, 2**24].speedup(range_int64)` as fast as ``range``.
# All three do the same arithmetic, so what differs is the counting. :evidence:`variant own_counter`
#
# The same holds where the counter is an index, such as ``k`` in ``a[row, k]``. With ``range`` the compiler
# works out every address anew, and with ``while`` the addresses only move on: that makes a :doc:`matrix
# multiplication </gallery/fast_kernels/matmul>`
# :measured:`matmul:loops[signed_while, 4096].speedup(one_element)` as fast. ``range`` does no harm where
# its length is known when Numba compiles, and we think little where the loop's body is long and its counter
# is no index.
#
# .. dropdown:: What is counted
#
#    For each dose, ``range`` works on :measured:`words_range_int64` words of 32 bits in ``int64``, and on
#    :measured:`words_range_int32` in ``int32``. The time that it adds to the ``while`` loop's is
#    :measured:`counting_ratio` as long in 64 bits. :evidence:`count counting_words`

# draw
gg.claim(counters, "range_int32", faster_than="range_int64", at=2**24, by=1.4)
gg.claim(counters, "own_counter", faster_than="range_int64", at=2**24, by=3)
taken = {
    name: counters.time(name, 2**24).value
    for name in ("range_int64", "range_int32", "own_counter")
}
above = {name: time - taken["own_counter"] for name, time in taken.items()}
ratio = gg.fact(
    "counting_ratio", above["range_int64"] / above["range_int32"], unit="ratio"
)

# %%
# What goes wrong: kernels raise no exceptions
# --------------------------------------------
#
# With Python lists and numbers, ``x[x.size]`` and ``x[1] / x[2]`` below would raise an exception, and the sum
# would be right. A kernel goes on without a word. To do no harm, ``x`` is a part of a longer array here.

# wrong: four mistakes without a message
whole = cp.asarray([3, 1, 0, 99], dtype=cp.float32)
small = cp.asarray([2**31 - 1], dtype=cp.int32)
x, out = whole[:3], cp.zeros(3, cp.float32)


@cuda.jit
def careless(x, small, out):
    out[0] = x[-1]
    out[1] = x[x.size]
    out[2] = x[1] / x[2]
    small[0] += 1


careless[1, 1](x, small, out)
print("x is", x, "and x[-1], x[x.size], x[1] / x[2] are", out)
print("2147483647 + 1 is", small[0])

# %%
# - A *negative index* counts from the end, as in Python, even if a wrong formula has made it.
# - An *index beyond the end* reads, or overwrites, whatever lies there.
# - A *division by zero* gives infinity.
# - An *overflow*: the sum is right in 64 bits and becomes negative when it is stored in 32.
#
# The cure is to check lengths and types on the host, before the launch. The :term:`simulator` finds an index
# beyond the end.

# %%


# fold: What debug=True finds
@cuda.jit(debug=True, opt=False)  # slow: without any optimisation
def careful(x, out):
    out[0] = x[1] / x[2]


try:
    careful[1, 1](x, out)
except ZeroDivisionError as error:
    print("ZeroDivisionError:", str(error).rpartition(": ")[2])
try:
    cuda.jit(boundscheck=True)
except NotImplementedError as error:
    print("NotImplementedError:", error)

# %%
# When float64 costs little
# -------------------------
#
# Where you need ``float64``, for long sums or for differences of nearly equal numbers, use it on purpose,
# with arrays that keep it. In kernels that wait for memory it hardly shows: to multiply each element once
# takes :measured:`scale[scale_python_float, 2**26].time` with a Python float, and
# :measured:`scale[scale_float32, 2**26].time` with an ``np.float32``. :evidence:`variant scale_float32`
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: scale_python_float, scale_float32
#    :fold: The two kernels

# %%

# record: The study of two factors
scale = numba_types.scale.run()

# %%
# This depends on the GPU. For this one, `NVIDIA lists
# <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#arithmetic-instructions>`__ 64 operations in
# ``float64`` per clock cycle and multiprocessor, and for graphics cards of :term:`compute capability` 8.9
# only two, where the mistake at the top of this page costs far more.

# %%
# .. remember::
#
#    - Put ``np.float32`` around every constant of a kernel on ``float32`` arrays, and look for ``f64`` in
#      ``kernel.inspect_asm()``. With Python floats a kernel took
#      :measured:`level[float32_only, 2**26].speedup(python_floats)` as long, on graphics cards far longer.
#    - Check lengths and types before the launch: a kernel reports no bad index, no overflow and no division
#      by zero.

# %%
# Your turn: degrees in 32 bits
# -----------------------------
#
# This kernel is right and works in ``float64``, although no array does. Find all the numbers to blame. The
# check reads the compiled code.
#
# .. exercise:: float64_by_accident

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "each step rounded": "rounded_steps",
    "Python floats": "python_floats",
    "float32 constants": "float32_only",
}
times = {label: results.time(name, 2**26) for label, name in names.items()}
_ = thumbnail.bars(times, "time of one kernel")

# %%
# Next
# ----
#
# Next: :doc:`Divergence: keep warps busy </gallery/first_kernels/divergence>`, on threads of a warp that take
# different branches. See also: :doc:`Ufuncs: one decorator for costly functions
# </gallery/first_kernels/ufuncs>`, whose signatures state types.
