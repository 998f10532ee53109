"""
Maximum on the CPU
==================

How fast is a CPU that is given a fair chance?
"""
# %%
# A Python loop takes the larger of two arrays of 32 768 numbers in
# :measured:`maximum_cpu[python, 32**3].time`. Compiled, the same loop takes
# :measured:`maximum_cpu[loops, 32**3].time`, and NumPy takes :measured:`maximum_cpu[numpy, 32**3].time`.
# Whoever holds a GPU against the first of the three has compared it with Python, not with a CPU.

# %%
# .. rst-class:: part-idea
#
# One at a time, sixteen at a time, in parts
# ------------------------------------------
#
# Python's loop asks the same questions for every element anew. Where does it lie? Of which type is it? What
# does "larger" mean for that type? The comparison itself is the least of it. A compiler asks once, before the
# loop begins, and leaves a loop of bare comparisons. A modern CPU then compares many neighbours in one
# instruction, up to sixteen ``float32``; this is called :term:`SIMD`. And a machine with several cores can
# cut the arrays into parts, one for each core.
#
# A CPU's threads are few, and each is a worker that takes a part. A GPU's :term:`thread` is so light that
# there is one for an element or two. This page is about the former.
#
# .. drawing:: maximum_cpu
#
#     Three rows over the same sixteen elements. In Python each element is a box of its own with four steps,
#     of which one compares. In compiled code one wide box covers all sixteen. With threads two wide boxes
#     cover one half each.

# %%
# .. rst-class:: part-bare
#
# A loop that is compiled
# -----------------------
#
# The loop below is Python. The decorator ``njit`` hands it to Numba, which translates it into machine code
# when it is called for the first time. This is called :term:`JIT compilation`. The arrays have three
# dimensions, so there are three loops.

import numpy as np
from numba import njit


@njit
def maximum(a, b, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = max(a[i, j, k], b[i, j, k])


a, b = np.random.default_rng(0).random((2, 32, 32, 32), dtype=np.float32)
out = np.empty_like(a)
maximum(a, b, out)
print("compiled:", out[0, 0, :4])
print("NumPy:   ", np.maximum(a, b)[0, 0, :4])

# %%
# They agree, on these numbers. But "the larger of two" is not one function. It depends on what one says of
# NaN ("not a number"), which is neither larger nor smaller than any number.

nan, one = np.float32("nan"), np.float32(1)
print("Python's max:", max(nan, one), max(one, nan))
print("np.maximum:  ", np.maximum(nan, one), np.maximum(one, nan))
print("np.fmax:     ", np.fmax(nan, one), np.fmax(one, nan))

# %%
# Python's ``max`` answers by the order of its arguments. NumPy has two functions, with a rule each. A
# comparison of different functions proves nothing. So one rule holds for everything that follows, here and on
# the pages about the GPU: NaN wins. It is the rule of ``np.maximum`` and of ``cp.maximum``. The inputs hold
# some NaN, so that a variant with another rule is caught.

# %%
# .. rst-class:: part-predict
#
# Twelve bytes for one comparison
# -------------------------------
#
# A ``float32`` has four bytes. Two are read for one that is written, so every element moves twelve bytes for
# a single comparison. Arrays of 256\ :sup:`3` elements do not fit into the caches that belong to one core.
# There, the memory should decide, and not the comparison.
#
# How fast does the memory deliver? A plain copy tells. With its rate, the twelve bytes become a time.

import gpuguide as gg
from gpuguide.measure.timing import time_host

source, target = np.ones((2, 2**25), dtype=np.float32)
seconds = time_host(lambda: np.copyto(target, source)).seconds
rates = [2 * source.nbytes / each for each in seconds]
rate = gg.fact("copy_rate", float(np.median(rates)), unit="B/s", samples=rates)
predicted = gg.fact(
    "predicted",
    12 * 256**3 / rate.value,
    unit="s",
    note="twelve bytes an element, at the rate of a copy on one thread",
)
print(f"a copy moves {rate.value / 1e9:.1f} GB/s on one thread")
print(f"so 256**3 elements should take {predicted.value * 1e3:.1f} ms")

# %%
# .. rst-class:: part-code
#
# Six ways, two of them twice
# ---------------------------
#
# **Python loop.** Three loops, with the rule for NaN spelled out.
#
# .. kernel:: gpuguide.topics.maximum_cpu.study
#    :names: maximum_python
#
# **NumPy.** The best known rival. ``np.maximum`` is a compiled SIMD loop and always runs on one thread; BLAS,
# the library through which NumPy multiplies matrices on many threads, has no part in it. There are two ways
# to call it. With ``out=`` it fills an array that exists; without, it makes a new array each time. They are
# two variants, **NumPy** and **NumPy, new array**, because making an array costs time of its own.
#
# .. kernel:: gpuguide.topics.maximum_cpu.study
#    :names: maximum_numpy, maximum_numpy_new
#
# **njit loops.** The same three loops as machine code. The function ``larger`` is compiled into them.
#
# .. kernel:: gpuguide.topics.maximum_cpu.kernels
#    :names: larger, maximum_loops
#
# **vectorize** and **vectorize, new array.** Here only the comparison is written down. Numba puts the loop
# around it and makes a function like those of NumPy, which takes arrays of any shape, with and without
# ``out=``. Comparing with NaN sets a flag in the CPU that such functions report as a warning; ``errstate``
# turns the warning off.
#
# .. kernel:: gpuguide.topics.maximum_cpu.kernels
#    :names: larger_ufunc
#
# .. kernel:: gpuguide.topics.maximum_cpu.study
#    :names: maximum_vectorize, maximum_vectorize_new
#
# **njit parallel.** With ``parallel=True``, ``numba.prange`` tells the compiler that the rounds of the first
# loop do not depend on each other. All threads share them.
#
# .. kernel:: gpuguide.topics.maximum_cpu.kernels
#    :names: maximum_parallel
#
# **NumPy, all threads.** NumPy can have all cores, too, if one cuts the arrays by hand. While it computes, it
# lets go of the lock that otherwise lets only one of Python's threads run at a time. The threads wait in a
# pool from call to call.
#
# .. kernel:: gpuguide.topics.maximum_cpu.study
#    :names: maximum_numpy_threads

# %%
# .. rst-class:: part-check
#
# The same answer from all eight
# ------------------------------
#
# Before anything is timed, each variant has to equal the :term:`reference` to the last bit, on whole numbers
# and on random ones. The reference chooses by comparisons alone and calls none of the functions above.

from gpuguide.topics.maximum_cpu import kernels, study as maximum_cpu

print("threads of the last two kinds:", maximum_cpu.THREADS)
study = maximum_cpu.study()
study

# %%
# .. rst-class:: part-measure
#
# From 512 elements to 134 million
# --------------------------------
#
# The sizes are cubes, because the arrays are: 8\ :sup:`3` is 512, 32\ :sup:`3` is 2\ :sup:`15`,
# 256\ :sup:`3` is 2\ :sup:`24`, and 512\ :sup:`3` is 2\ :sup:`27`. No cache holds the arrays of the last
# size, to which NumPy and the two with all threads go. All inputs and outputs were written before. So only
# the variants that make a new array pay for finding memory. The variants take turns, in rounds. A ratio is
# formed within each round, and the :term:`median` over the rounds is shown. So it need not equal the ratio
# of the two times that stand below it.

results = study.run()

# %%

# draw
gg.claim(results, "loops", faster_than="python", at=32**3)
gg.claim(results, "numpy", faster_than="numpy_new", at=256**3)
gg.claim(results, "parallel", faster_than="loops", at=256**3)
gg.claim(results, "loops", faster_than="parallel", at=8**3)

# %%
# .. checks:: maximum_cpu
#
# The first chart has the Python loop, the same loops compiled for one thread and for all, and NumPy. The band
# lies where threads begin to pay.

# draw
ax = gg.plot_time(
    results,
    variants=["python", "numpy", "loops", "parallel"],
    crossover=("loops", "parallel"),
)
for name in ax.texts:
    if name.get_text() == "njit loops":  # on the right, the next line would cross it
        name.set(position=(-9, 4), ha="right")

# %%
# .. finding::
#
#    At 32\ :sup:`3` elements the compiled loops are :measured:`maximum_cpu[loops, 32**3].speedup(python)` as
#    fast as the Python loop. All threads overtake one :measured:`maximum_cpu.crossover(loops, parallel)`.
#
# The second chart shows the :term:`bandwidth` that five of the eight reach.

# draw
ax = gg.plot_rate(
    results,
    variants=["numpy", "numpy_new", "loops", "parallel", "numpy_threads"],
)
ax.set_ylim(bottom=-30)  # room for the lowest name

# %%
# .. finding::
#
#    At 256\ :sup:`3` elements NumPy moves :measured:`maximum_cpu[numpy, 256**3].rate` into an array that
#    exists, and :measured:`maximum_cpu[numpy_new, 256**3].rate` when it makes a new one. NumPy on all threads
#    reaches :measured:`maximum_cpu[numpy_threads, 256**3].rate`, and Numba's threads
#    :measured:`maximum_cpu[parallel, 256**3].rate`.
#
# .. results:: maximum_cpu

# %%
# .. rst-class:: part-reading
#
# Four clocks that saw different work
# -----------------------------------
#
# Comparisons of this kind are often published. One of them, with the same arrays of 32\ :sup:`3`, gives
# :claimed:`s1_python_loop` for the Python loop and :claimed:`s1_numpy` for NumPy, and calls that a
# :claimed:`s1_numpy_speedup` improvement. Here NumPy is :measured:`maximum_cpu[numpy, 32**3].speedup(python)`
# as fast as the loop. The published :claimed:`s1_jit` for compiled loops and :claimed:`s1_vectorize` for
# ``vectorize`` look as if Numba had beaten NumPy by far. But the four clocks did not see the same work.
#
# .. list-table:: What the published clocks saw at 32\ :sup:`3` elements
#    :header-rows: 1
#
#    * -
#      - published
#      - the same here
#      - with ``out=``
#    * - Python loop
#      - :claimed:`s1_python_loop`
#      - :measured:`maximum_cpu[python, 32**3].time`
#      - –
#    * - NumPy, new array
#      - :claimed:`s1_numpy`
#      - :measured:`maximum_cpu[numpy_new, 32**3].time`
#      - :measured:`maximum_cpu[numpy, 32**3].time`
#    * - njit loops
#      - :claimed:`s1_jit`
#      - :measured:`maximum_cpu[loops, 32**3].time`
#      - –
#    * - vectorize, new array
#      - :claimed:`s1_vectorize`
#      - :measured:`maximum_cpu[vectorize_new, 32**3].time`
#      - :measured:`maximum_cpu[vectorize, 32**3].time`
#
# The loops fill an array that exists. NumPy and ``vectorize`` made a new one in each call. The cure is to let
# all of them fill the same array, as in the last column, and to say so. Then NumPy and the compiled loops are
# no longer far apart. A call of ``vectorize`` takes longer, we think because it has to look at what it was
# given and because of ``errstate``. That shows best where there is little else to do. At 512 elements it
# takes :measured:`maximum_cpu[vectorize, 8**3].time`, the loops :measured:`maximum_cpu[loops, 8**3].time`.
#
# At 32\ :sup:`3` the new array is a small part of a call, so it does not explain the published figure for
# NumPy. What does explain it is not known.
#
# A large new array is not cheap. The operating system hands out memory as a promise and finds the pages when
# they are first written. At 256\ :sup:`3` elements a call that makes its array takes
# :measured:`maximum_cpu[numpy_new, 256**3].time` instead of :measured:`maximum_cpu[numpy, 256**3].time`. The
# published figure of ``vectorize`` for that size, :claimed:`s1_vectorize_256`, contains this as well.
#
# At that size it matters little who wrote the loop: the :term:`samples <sample>` of the three below overlap.
# We think that one thread waits for its data, whichever compiler made the loop. The prediction from a copy is
# a guide and no bound: half of a copy's bytes are written, here a third, and to write a byte often costs a
# CPU more than to read one.
#
# .. list-table:: 256\ :sup:`3` elements, one thread
#    :header-rows: 1
#
#    * - predicted from a copy
#      - NumPy
#      - njit loops
#      - vectorize
#    * - :measured:`predicted`
#      - :measured:`maximum_cpu[numpy, 256**3].time`
#      - :measured:`maximum_cpu[loops, 256**3].time`
#      - :measured:`maximum_cpu[vectorize, 256**3].time`
#
# What helps then is more cores, which together can ask the memory for more than one of them can. NumPy
# on all threads takes :measured:`maximum_cpu[numpy_threads, 256**3].time` there, and Numba's threads take
# :measured:`maximum_cpu[parallel, 256**3].time`. The smaller of the two is the figure that a GPU has to beat.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: the compiler in the clock
# -------------------------------------------
#
# The published figure of the compiled loops is sound: ``%timeit`` makes trial calls that it does not count,
# and the compiler was in those. A clock that is started once makes none. Here it holds five calls of a
# function that was never called before. A compiler always does the same work, and whatever else runs on the
# machine can only add to it. So the fastest of several turns is taken.

# wrong: the first of the five calls compiles
from time import perf_counter

from gpuguide.measure.turns import beside_compilation


def five_calls(function):
    start = perf_counter()
    for _ in range(5):
        function(a, b, out)
    return (perf_counter() - start) / 5


samples, compiling, calling = beside_compilation(
    five_calls, kernels.maximum_loops, (a, b, out)
)
facts = {}
for name, taken in (
    ("five_calls", samples),
    ("compile_alone", compiling),
    ("call_alone", calling),
):
    facts[name] = gg.fact(
        name, min(taken), unit="s", samples=taken, note="the fastest of the turns"
    )
    print(f"{name:14} {facts[name].value * 1e6:12.1f} us")

# %%

# draw
parts = [facts["compile_alone"].value / 5, facts["call_alone"].value]
_ = gg.explained("five_calls_explained", parts, facts["five_calls"].value)

# %%
# The right way is to call the function once before the clock starts, or to give the compiler the types in
# advance. Then a call is a call.

# draw
gg.plot_decomposition(
    {
        "a fifth of five calls": {"not taken apart": facts["five_calls"]},
        "timed apart": {
            "a fifth of compiling": facts["compile_alone"].value / 5,
            "a call": facts["call_alone"],
        },
    }
)

# %%
# .. finding::
#
#    The clock says :measured:`five_calls` a call. Compiling takes :measured:`compile_alone` once. A call
#    takes :measured:`call_alone`, too little to be seen in the bar. A fifth of the first and one of the
#    second come to :measured:`five_calls_explained` of the figure.

# %%
# .. rst-class:: part-when-not-to
#
# When neither threads nor a compiler pay
# ---------------------------------------
#
# Threads have to be woken and waited for. With 512 elements Numba's threads need
# :measured:`maximum_cpu[parallel, 8**3].time`, NumPy on all threads
# :measured:`maximum_cpu[numpy_threads, 8**3].time`, and the same compiled loops on a single thread
# :measured:`maximum_cpu[loops, 8**3].time`.
#
# A compiler wants its :measured:`compile_alone` before the first result. If there is a NumPy function for
# what you want, and you call it a few times, that is hard to win back. Compile where NumPy has no function,
# or where it would take several passes over the data.

# %%
# .. rst-class:: part-on-your-gpu
#
# Your cores and your memory
# --------------------------
#
# The small sizes depend on the clock rate of one core and on its caches. The largest depends on the memory
# and on the number of cores. The machine measured here has virtual CPUs. Two of them may share one core, and
# other guests may be at work, so the threads may reach less than their number promises. The folded card at
# the end names the CPU, its threads, and the time that other guests took.
#
# ``gpuguide run maximum_cpu`` measures your machine. No GPU is needed.

# %%
# .. rst-class:: part-your-turn
#
# Make a comparison fair
# ----------------------
#
# The same mistakes wait wherever a CPU is held against a GPU. Here is a comparison that makes most of them.
# Mend it. The check runs it on two simulated machines, so it needs no GPU either.
#
# .. exercise:: fair_comparison
#
# .. question:: Would Python's max in the compiled loop make it a different function?
#
#    For numbers it would not. For NaN it may: what ``max`` says then depends on the order of its arguments,
#    and on what the compiler makes of it. The inputs here contain NaN in either array and in both, so the
#    check would find out.
#
# .. question:: Why does the rate of one thread first rise with the size of the arrays, and then fall?
#
#    A call has a price of its own, whatever it is given. With more elements each of them bears less of it, so
#    the rate rises. It falls once the arrays no longer fit into the caches near the core, where the call
#    before has left them. The largest have to come from memory each time.

# %%
# .. rst-class:: part-next
#
# To the same maximum on a GPU
# ----------------------------
#
# Onward: :doc:`What compiling costs </gallery/compiled_cpu/compile_cost>` looks at the price of a first call,
# and :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` takes the same maximum, with the same rule for
# NaN, to the GPU and asks how to shape a :term:`launch`. Sideways:
# :doc:`First kernel </gallery/first_kernels/first_kernel>` turns a loop into a :term:`kernel`. Used here:
# :class:`gpuguide.Study`, :func:`gpuguide.fact`, :func:`gpuguide.explained`.
