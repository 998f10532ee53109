"""
Numba's types
=============

What do numbers that are typed into a kernel cost?
"""
# %%
# A kernel on ``float32`` arrays has two numbers in its formula, 0.0 and 2.5. Typed as in Python they make it
# take :measured:`level[python_floats, 2**26].time` for 2\ :sup:`26` elements. With ``np.float32`` around both
# it takes :measured:`level[float32_only, 2**26].time`, and no array has changed.

# %%
# .. rst-class:: part-idea
#
# The wider type wins
# -------------------
#
# Before Numba compiles a :term:`kernel` it gives every variable one type. That is :term:`type inference`. An
# element has the type of its array. A number typed into the code has Python's, and Python's floats have 64
# bits. So have its whole numbers. Where two types meet, the wider one wins: a ``float32`` plus a Python float
# is a ``float64``, and so is a ``float32`` plus an ``int64``.
#
# A variable keeps its type for the whole kernel. If one line makes it a ``float64``, it is one on all lines.
# So a single number can spread. Nobody is told, because a result that is stored in an array of ``float32`` is
# cut back to 32 bits on its way.
#
# The kernel of this page works out how much of a drug is in the blood after 128 doses, with another share
# ``kept`` for each patient. It can be written in several ways.
#
# .. drawing:: numba_types
#
#     Three ways from one element to the next array, in bars as high as their bits. With Python's numbers the
#     element is widened once, all doses are computed in 64 bits, and the result is cut. With rounded steps it
#     is widened and cut again for every dose. With float32 only it keeps its 32 bits all the way.

# %%
# .. rst-class:: part-bare
#
# Ask the compiler
# ----------------
#
# What the types have become stands in the :term:`PTX`, which each kernel can show. Here is a kernel with one
# multiplication, and the lines of its PTX that mention 64-bit floats.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * 2.1


x = cp.arange(65_536, dtype=cp.float32)
out = cp.empty_like(x)
scale[256, 256](x, out)
print("GPU:  ", out[:4])
print("NumPy:", np.arange(4, dtype=np.float32) * 2.1)
(ptx,) = scale.inspect_asm().values()
for line in ptx.splitlines():
    if "f64" in line and ".reg" not in line:
        print(line.strip())

# %%
# Three instructions for one: widen, multiply, cut. NumPy does not do this to a Python number; it lets the
# array decide, and rounds 2.1 to 32 bits first. That is why its last product differs in the last digit. With
# ``2.0`` in place of ``2.1`` the three lines vanish, because the compiler knows that 32 bits give the same
# product. A formula of two steps is already too long for that kindness.

# %%
# .. rst-class:: part-predict
#
# Units for one type and for the other
# ------------------------------------
#
# A :term:`multiprocessor` has separate units for ``float32`` and for ``float64``, and fewer of the second
# kind. Each of the 128 doses is 2.5 units of the drug, and until the next one a patient keeps a share of what
# is in the blood. That is an addition and a multiplication a dose. The compiler multiplies the bracket out,
# so that a unit does both in one go. And only eight bytes of memory move for a patient. So the units should
# set the pace. At their physical peaks 2\ :sup:`26` patients take:

import gpuguide as gg

gpu = gg.require_gpu()
operations = 2 * 128 * 2**26
for unit in ("fp32", "fp64"):
    seconds = operations / gpu.peak_flops(unit)
    predicted = gg.fact(
        f"predicted_{unit}", seconds, unit="s", note="operations / physical peak"
    )
    print(f"{unit}: {predicted.value * 1e3:.2f} ms at least")

# %%
# .. rst-class:: part-code
#
# Where the 64 bits get in
# ------------------------
#
# **Python floats.** The formula as anybody would type it. What a launcher has to do is the same for all four
# kernels, so it has a function of its own.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: python_floats_kernel
#
# .. kernel:: gpuguide.topics.numba_types.study
#    :names: level_python_floats, launch_level
#
# **Rounded steps.** Somebody has heard of the trouble and puts ``np.float32`` around the result of every
# dose. What goes into the formula is still a Python float.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: rounded_steps_kernel
#
# .. kernel:: gpuguide.topics.numba_types.study
#    :names: level_rounded_steps
#
# **One left.** The formula is clean. But the level starts with ``0.0``, and that makes it a ``float64`` for
# the whole kernel.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: one_left_kernel
#
# .. kernel:: gpuguide.topics.numba_types.study
#    :names: level_one_left
#
# **float32 only.** Every constant says that it has 32 bits.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: float32_only_kernel
#
# .. kernel:: gpuguide.topics.numba_types.study
#    :names: level_float32_only

# %%
# So much for the code that was typed. This is the code that was made of it:

from gpuguide.topics.numba_types import loop_counters, study as numba_types, scaling
from gpuguide.topics.numba_types.float_instructions import float_instructions

kept, level = (gg.numba_view(cp.zeros(65_536, cp.float32)) for _ in range(2))
for name in ("python_floats", "rounded_steps", "one_left", "float32_only"):
    getattr(numba_types, f"level_{name}")(kept, level)
    (ptx,) = getattr(numba_types, f"{name}_kernel").inspect_asm().values()
    found = float_instructions(ptx)
    for kind in ("float32", "float64", "conversions"):
        gg.fact(f"{name}_{kind}", getattr(found, kind), unit="1", note="in the PTX")
    print(
        f"{name:14} {found.float32:4} float32 {found.float64:4} float64"
        f" {found.conversions:4} conversions"
    )

# %%
# The first and the third kernel differ in what was typed, and their counts do not:
# :measured:`python_floats_float64` and :measured:`one_left_float64` instructions in ``float64``. For 128
# doses the compiler writes all turns of the loop one after the other. In the second kernel it keeps a loop
# that runs several times, and :measured:`rounded_steps_conversions` conversions stand in its code.

# %%
# .. rst-class:: part-check
#
# Wrong types, right results
# --------------------------
#
# None of the four is wrong. Each has to agree with a :term:`reference` in ``float64``, as closely as
# ``float32`` allows. That is why no test of results finds this mistake.

study = numba_types.study()
study

# %%
# .. rst-class:: part-measure
#
# What an accident takes
# ----------------------
#
# The study runs at six sizes. The first kernel also runs on arrays of ``float64``, for comparison.

results = study.run()
wide = numba_types.wide_study().run()

# %%

# draw
gg.claim(results, "float32_only", faster_than="python_floats", at=2**26)
gg.claim(results, "float32_only", faster_than="rounded_steps", at=2**26)
gg.claim(results, "python_floats", faster_than="rounded_steps", at=2**26)

# %%
# .. checks:: level
#
# .. checks:: wide
#
# The lines of Python floats and of one left lie on top of each other.

# draw
gg.plot_time(results)

# %%
# .. finding::
#
#    At 2\ :sup:`26` elements float32 only takes :measured:`level[float32_only, 2**26].time`, which is
#    :measured:`level[float32_only, 2**26].speedup(python_floats)` as fast as Python floats and
#    :measured:`level[float32_only, 2**26].speedup(rounded_steps)` as fast as rounded steps. One left takes
#    :measured:`level[one_left, 2**26].time`.
#
# .. results:: level

# %%
# .. rst-class:: part-reading
#
# All of it, or none
# ------------------
#
# .. list-table:: 2\ :sup:`26` elements
#    :header-rows: 1
#
#    * -
#      - predicted, at the physical peak
#      - measured
#    * - 32 bits
#      - :measured:`predicted_fp32`
#      - :measured:`level[float32_only, 2**26].time`
#    * - 64 bits by accident
#      - :measured:`predicted_fp64`
#      - :measured:`level[python_floats, 2**26].time`
#    * - float64 arrays
#      - :measured:`predicted_fp64`
#      - :measured:`wide[float64_arrays, 2**26].time`
#
# Neither kernel reaches the peak of its units, and the one in 32 bits stays further from it. So the measured
# times lie closer together than the predicted ones.
#
# The last two rows do the same arithmetic. But arrays of ``float64`` keep results of 64 bits, and the
# accident cuts them off. Twice the bytes move for them, too.
#
# Rounding each step is the worst of both, as a claim above says. The units that turn one type into the other
# are fewer still, and every dose needs them twice. It reaches
# :measured:`level[rounded_steps, 2**26].flop_share` of the ``float64`` :term:`ceiling`; Python floats reach
# :measured:`level[python_floats, 2**26].flop_share`. Mend a constant where it enters.

# %%
# Whole numbers have 64 bits as well, and a GPU's integer units have 32. Adding two ``int64`` takes two
# instructions, and so does comparing them. So what does it cost to count? In the kernels above the compiler
# knew the number of doses and wrote the loop out. Here it is an argument, and a Python ``int`` arrives in a
# kernel as ``int64``. **range, int64** is what one types.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: range_int64_kernel
#
# .. kernel:: gpuguide.topics.numba_types.loop_counters
#    :names: count_by_range_int64
#
# **range, int32** gives ``range`` a number of 32 bits.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: range_int32_kernel
#
# .. kernel:: gpuguide.topics.numba_types.loop_counters
#    :names: count_by_range_int32
#
# **Own counter** does without ``range``.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: own_counter_kernel
#
# .. kernel:: gpuguide.topics.numba_types.loop_counters
#    :names: count_by_own_counter

# %%
# All three get the same 128 doses.

counters = loop_counters.study().run()

# %%

# draw
gg.claim(counters, "range_int32", faster_than="range_int64", at=2**24)
gg.claim(counters, "own_counter", faster_than="range_int64", at=2**24)

# %%
# .. checks:: counters
#
# The arithmetic of the three is the same. The rest is counting.

# draw
gg.plot_decomposition(
    {
        info.label: {"128 doses": counters.quantity(info.name, 2**24, "time").value}
        for info in counters.variants
    }
)

# %%
# .. finding::
#
#    With ``range`` in 64 bits 2\ :sup:`24` elements take :measured:`counters[range_int64, 2**24].time`, in 32
#    bits :measured:`counters[range_int32, 2**24].time`. The own counter takes
#    :measured:`counters[own_counter, 2**24].time`, which is
#    :measured:`counters[own_counter, 2**24].speedup(range_int64)` as fast as the first.
#
# .. results:: counters
#
# Numba's ``range`` counts down what is left, and looks at every turn whether anything is. The compiler does
# not see through this: it writes several doses in a row and keeps a look for each. It does see through the
# ``while``, though its counter has 64 bits, too. There it looks once for several doses.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: a kernel that never complains
# -----------------------------------------------
#
# Types also have limits, and so do arrays. Python would stop at each of the following lines, or at least do
# what it says. A kernel goes on. To show it safely, ``x`` is a part of a longer array.

# wrong: four mistakes, and not a word
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
print("x:                ", x)
print("x[-1]:            ", out[0])
print("x[x.size]:        ", out[1])
print("x[1] / x[2]:      ", out[2])
print("2147483647 + 1:   ", small[0])

# %%
# A negative index counts from the end, as in Python, also where it comes from a formula that went wrong. An
# index beyond the end reads whatever lies there; here it is the rest of the longer array. A division by zero
# gives infinity. The sum is right in 64 bits and is cut at the store, which makes it negative.
#
# With ``debug=True`` a kernel can raise. This is for debugging only: it turns off all optimisation and waits
# after each :term:`launch`. It finds the division. Indices it does not check, and Numba says so when asked
# to.


@cuda.jit(debug=True, opt=False)
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
# So what can be checked on the :term:`host` should be checked there. The launchers of this guide look at
# lengths and types before they launch, and the :term:`simulator` sees an index that lies outside.

# %%
# .. rst-class:: part-when-not-to
#
# When the accident costs little
# ------------------------------
#
# The kernel at the top of this page multiplies once for eight bytes. That is so little that the units for
# ``float64`` have time to spare.
#
# .. kernel:: gpuguide.topics.numba_types.kernels
#    :names: scale_by_python_float_kernel, scale_by_float32_kernel

# %%
# It runs with a Python float and with a ``float32``.

scales = scaling.study().run()

# %%
# .. checks:: scale
#
# With a Python float it takes :measured:`scale[python_float, 2**26].time` for 2\ :sup:`26` elements, with a
# ``float32`` :measured:`scale[float32, 2**26].time`. What keeps both below the memory's rate is not their
# arithmetic: one element is too little work for a thread, as
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` shows.
#
# Where ``float64`` is needed, for long sums or for differences of nearly equal numbers, use it: on purpose,
# and with arrays that keep it.

# %%
# .. rst-class:: part-on-your-gpu
#
# Two units in place of sixty-four
# --------------------------------
#
# A multiprocessor of this GPU has 128 units for ``float32`` and 64 for ``float64``. On most consumer GPUs it
# has 128 and two. There the same accident costs far more, and even the kernel with a single multiplication
# can feel it. The counts of instructions carry over, since the compiler is the same; so does the price of
# counting, because all GPUs have 32-bit integer units.
#
# ``gpuguide run numba_types`` measures yours.
# :doc:`Know your GPU </gallery/measuring/know_your_gpu>` finds the ceilings.

# %%
# .. rst-class:: part-your-turn
#
# Degrees in 32 bits
# ------------------
#
# Here is a kernel that is right and works in ``float64``, although no array does. Find all numbers that do
# this, whole ones included. The check reads the compiled code.
#
# .. exercise:: float64_by_accident
#
# .. question:: Is np.float32(level + 2.5) as good as level + np.float32(2.5)?
#
#    For a single addition the compiler may find out that it is. In general the first one widens, adds in 64
#    bits and cuts. Put the conversion around what enters, not around what leaves.
#
# .. question:: A kernel takes row and column apart by i // columns and i % columns. In which type?
#
#    In ``int64``, since ``cuda.grid`` gives 64 bits. No GPU has an instruction that divides whole numbers;
#    the compiler writes many, and for 64 bits many more. It first looks whether both numbers fit into 32
#    bits, which helps. ``np.uint32`` around both makes the look needless. A :term:`grid` with two axes needs
#    no division at all.

# %%
# .. rst-class:: part-next
#
# Types are settled
# -----------------
#
# Onward: :doc:`Divergence </gallery/first_kernels/divergence>` is about :term:`threads <thread>` of one
# :term:`warp` that want different things. Sideways: :doc:`Ufuncs on the GPU </gallery/first_kernels/ufuncs>`
# states the types of a :term:`ufunc` in its signatures. Used here: :func:`gpuguide.fact`,
# :func:`gpuguide.numba_view`, :class:`gpuguide.Study`.
