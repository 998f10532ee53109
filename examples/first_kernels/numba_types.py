"""
Numba's types
=============

What do Python's 64-bit numbers cost in a kernel?
"""
# %%
# Put ``np.float32`` around the constants of a kernel on ``float32`` arrays, or it computes in ``float64``:
# for 2\ :sup:`26` elements it takes :measured:`level[python_floats, 2**26].time` with two Python floats and
# :measured:`level[float32_only, 2**26].time` without. GPUs with 1/32 or 1/64 of the units for ``float64``
# pay far more.
#
# .. rungs:: level
#    :at: 2**12, 2**21, 2**26

# %%
# Type inference: the wider type wins
# -----------------------------------
#
# Before Numba compiles a kernel, it gives each variable one type, which is called :term:`type inference`. An
# element has the type of its array. A number typed into the code has Python's type, and Python's floats have
# 64 bits. Where two types meet, the wider one wins: ``float32`` plus a Python float is ``float64``.
#
# A variable has one type in the whole kernel, so a single constant can spread to all of it. Nothing warns
# you: a result that goes into a ``float32`` array is rounded to 32 bits without a word. A function under
# ``@vectorize`` is no different: with ``float32(float32)`` as its signature, ``x * 0.5 + 0.25`` is computed
# in ``float64`` and rounded at the end. Write ``np.float32(0.5)`` there, too.
#
# .. drawing:: numba_types
#
#     Three ways from one element to the next array, in bars as high as their bits. With Python's numbers the
#     element is widened once, all doses are computed in 64 bits, and the result is rounded. With rounded
#     steps it is widened and rounded again for every dose. With float32 only it keeps its 32 bits all the
#     way.
#
# The kernel below works out how much of a drug a patient has in the blood after 128 doses of 2.5 units, when
# a share ``kept`` remains from each dose to the next. Its :term:`PTX`, the compiler's output, shows which
# types it works in.
#
# .. rung:: python_floats

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
#    two: all of it is back.
#
# NumPy does not do this. There the array decides, and the whole loop has 32 bits.
#
# On arrays of ``float64`` the same kernel takes :measured:`wide[float64_arrays, 2**26].time`, as long as on
# those of ``float32``. Half the bytes gain nothing, since the arithmetic is the same.
# :evidence:`variant float64_arrays`

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
# Rounding each step: two conversions per dose
# --------------------------------------------
#
# The obvious repair is to put ``np.float32`` around the result. But what goes into the formula is still a
# Python float, and the kernel takes :measured:`level[rounded_steps, 2**26].time`.
#
# .. rung:: rounded_steps

rounded_steps[256, 256](kept, level)
show(rounded_steps)

# %%
# This is the worst of both. Each dose is widened, computed in 64 bits and rounded, which takes two
# conversions. For this GPU, `NVIDIA lists
# <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#arithmetic-instructions>`__ 16 of them per clock
# cycle and multiprocessor, and 64 operations in ``float64``. So two conversions take as long as eight
# operations. With Python floats a whole dose is one operation, which multiplies and adds at once. (So why
# does ``f64`` stand there as often in both? Here the compiler repeats the body for 32 doses, with four
# instructions each, and loops over them; above it wrote out all 128.) By the clock, Python floats are
# :measured:`level[python_floats, 2**26].speedup(rounded_steps)` as fast as rounded steps.
# :evidence:`count float_instructions`

# %%
# One float64 constant spreads to the whole kernel
# ------------------------------------------------
#
# Here the formula is clean, and only the start is Python's ``0.0``.
#
# .. rung:: one_left

one_left[256, 256](kept, level)
show(one_left)

# %%
# That is enough. The variable ``x`` is ``float64`` on all lines, and the PTX has
# :measured:`one_left_float64` operations in 64 bits for the 128 doses, like that of the first kernel. Mending
# one of two constants gains nothing.

# %%
# Only float32 constants
# ----------------------
#
# Now both constants have 32 bits.
#
# .. rung:: float32_only

float32_only[256, 256](kept, level)
show(float32_only)

# %%

# record: The studies: four kernels at six sizes, and the same doses in float64 arrays
from gpuguide.topics.numba_types import study as numba_types

results = numba_types.level.run()
wide = numba_types.wide.run()

# %%
# The GPU can do twice as many ``float32`` as ``float64`` operations per clock cycle. The gain stays below
# that: this kernel reaches :measured:`level[float32_only, 2**26].flop_share` of the ``float32``
# :term:`ceiling`, and Python floats reach :measured:`level[python_floats, 2**26].flop_share` of theirs.

# draw
gg.plot_time(results, variants=["python_floats", "rounded_steps", "float32_only"])

# %%
# .. finding::
#
#    For 2\ :sup:`26` patients ``float32`` alone takes :measured:`level[float32_only, 2**26].time`, Python
#    floats take :measured:`level[python_floats, 2**26].time`, and rounded steps
#    :measured:`level[rounded_steps, 2**26].time`.
#
# No test of results finds this mistake. All four kernels agree with the reference as closely as ``float32``
# allows; the 64-bit ones are merely slower.
#
# .. results:: level
#
# .. results:: wide

# draw
gg.claim(results, "float32_only", faster_than="python_floats", at=2**26, by=1.3)
gg.claim(results, "python_floats", faster_than="rounded_steps", at=2**26, by=6)

# %%
# Loops with range: int64 counters
# --------------------------------
#
# Whole numbers have 64 bits, too: those typed into a kernel, those passed to it from Python, and the result
# of ``cuda.grid``. A GPU's integer units have 32 bits and take at least two instructions for 64.
#
# So what does it cost to count? Above, the compiler knew that there are 128 doses and unrolled the loop. Here
# their number is an argument, and the loop remains.
#
# .. rung:: range_int64

range_int64[256, 256](kept, 128, level)
print(level[::16_384])

# %%
# Numba's ``range`` keeps a count of what is left, and lowers it only if it is above 0. For each dose that is
# a comparison, a choice between -1 and 0, and an addition. Counting in 32 bits halves the instructions.
#
# .. rung:: range_int32

range_int32[256, 256](kept, 128, level)
print(level[::16_384])

# %%
# Without ``range`` it is cheaper still. In this loop the compiler recognises a counter, and checks it once
# for several doses.
#
# .. rung:: own_counter

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

# draw
doses = counters.time("own_counter", 2**24).value
taken = {info.name: counters.time(info.name, 2**24).value for info in counters.variants}
gg.plot_decomposition(
    {
        counters.variant(name).label: {
            "while loop": doses,
            "added by range": time - doses,
        }
        for name, time in taken.items()
    }
)

# %%
# .. finding::
#
#    128 doses for 2\ :sup:`24` patients take :measured:`counters[range_int64, 2**24].time` with ``range`` in
#    64 bits, :measured:`counters[range_int32, 2**24].time` in 32 bits, and
#    :measured:`counters[own_counter, 2**24].time` in a ``while`` loop with a counter of its own.
#
# The arithmetic of the three is the same, so what differs is the counting. :evidence:`variant own_counter`
# For each dose, ``range`` works on :measured:`words_range_int64` words of 32 bits in ``int64``, and on
# :measured:`words_range_int32` in ``int32``. The time that it adds to the ``while`` loop's is
# :measured:`counting_ratio` as long in 64 bits. :evidence:`count counting_words`
#
# .. results:: counters

# draw
gg.claim(counters, "range_int32", faster_than="range_int64", at=2**24, by=1.4)
gg.claim(counters, "own_counter", faster_than="range_int64", at=2**24, by=3)
above = {name: time - taken["own_counter"] for name, time in taken.items()}
ratio = gg.fact(
    "counting_ratio", above["range_int64"] / above["range_int32"], unit="ratio"
)

# %%
# No exceptions: bad index, overflow, division by zero
# ----------------------------------------------------
#
# With lists and numbers of Python, the second and third line below raise an exception, and the fourth gives
# the right sum. A kernel says nothing and goes on. So that nothing is harmed, ``x`` is a part of a longer
# array.

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
# A negative index counts from the end, as in Python, even if a wrong formula has made it. An index beyond the
# end reads whatever lies there. A division by zero gives infinity. The sum is right in 64 bits and becomes
# negative when it is stored in 32. So check lengths and types on the host, before the launch; the
# :term:`simulator` finds an index beyond the end.

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
# A kernel that multiplies each element once, by 2.1, takes
# :measured:`scale[scale_python_float, 2**26].time` with the Python float and
# :measured:`scale[scale_float32, 2**26].time` with an ``np.float32``. Eight bytes move for each
# multiplication, and the units for ``float64`` almost keep up with that. :evidence:`variant scale_float32`
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: scale_python_float, scale_float32
#    :fold: The two kernels

# %%

# record: The study of two factors
scale = numba_types.scale.run()

# %%
# .. results:: scale
#
# This depends on the GPU. NVIDIA's list has two operations in ``float64`` per clock cycle and multiprocessor
# for the GPUs of compute capability 8.9, where this one has 64, so there the mistake at the top of this page
# costs far more. Where you need ``float64``, for long sums or for differences of nearly equal numbers, use it
# on purpose, with arrays that keep it.

# %%
# .. remember::
#
#    - Put ``np.float32`` around every constant of a kernel on ``float32`` arrays. It is then
#      :measured:`level[float32_only, 2**26].speedup(python_floats)` as fast as with Python floats, and more
#      on cards for graphics.
#    - Look for ``f64`` in ``kernel.inspect_asm()``. No test of results finds this mistake.
#    - Check lengths and types on the host: a kernel reports no bad index, no overflow and no division by
#      zero.

# %%
# Your turn: degrees in 32 bits
# -----------------------------
#
# This kernel is right and works in ``float64``, although no array does. Find all the numbers to blame. The
# check reads the compiled code.
#
# .. exercise:: float64_by_accident

# %%
# Next
# ----
#
# Onward: :doc:`Divergence </gallery/first_kernels/divergence>`, on threads of a warp that take different
# branches. Sideways: :doc:`Ufuncs on the GPU </gallery/first_kernels/ufuncs>`, whose signatures state types.
