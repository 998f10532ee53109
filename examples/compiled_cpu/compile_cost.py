"""
What compiling costs
====================

When does Numba compile, how long does it take, and how often do you pay?
"""
# %%
# In a fresh process the first call of a small function takes :measured:`fresh_first`, and the second
# :measured:`fresh_later`. The difference is the compiler, which has to be loaded and then to work. With the
# compiled code kept on disk it need not work, and the first call in the next process takes
# :measured:`fresh_cached`. With everything loaded, one more function takes
# :measured:`compiling[njit, 32**3].time` to compile, or :measured:`compiling[cached, 32**3].time` to read
# from disk.

# %%
# .. rst-class:: part-idea
#
# One version for each set of types
# ---------------------------------
#
# Python finds out what ``a + b`` means each time it comes to it. A compiler wants to know it once, before
# anything runs. Numba waits until the first call, looks at the types of the arguments, and then compiles the
# function for exactly these: :term:`JIT compilation`. The next call with the same types runs what is there.
# A call with other types compiles another version.
#
# All of this is lost when the process ends, unless the compiled code is kept. With ``cache=True`` Numba
# writes it to disk, and reads it back in the next process. Each process has to load Numba's compiler before
# its first use, whether it then compiles or reads.
#
# .. drawing:: compile_cost
#
#     Four calls as bars of time. The first call is a piece of loading, a long piece of compiling and a short
#     piece of running. The second only runs. A call with other types compiles again. In a new process with a
#     cache, a short piece of reading takes the place of compiling; the loading remains.

# %%
# .. rst-class:: part-bare
#
# Watch it compile
# ----------------
#
# A decorated function knows which versions of it there are. No clock is needed to see when one is added.

import numpy as np
from numba import njit


@njit
def larger(a, b, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = max(a[i, j, k], b[i, j, k])


a, b = np.random.default_rng(0).random((2, 32, 32, 32), np.float32)
out = np.empty_like(a)
print("versions when it is decorated: ", len(larger.signatures))
larger(a, b, out)
print("after a call with float32:     ", len(larger.signatures))
larger(a, b, out)
print("after another one:             ", len(larger.signatures))
larger(a.astype(float), b.astype(float), out.astype(float))
print("after a call with float64:     ", len(larger.signatures))
print("Numba:", out[0, 0, :3])
print("NumPy:", np.maximum(a, b)[0, 0, :3])

# %%
# .. rst-class:: part-predict
#
# After how many calls is it paid back?
# -------------------------------------
#
# A published notebook has all the figures that this question needs, for the loop above over 32 768 elements.
# Python took :claimed:`s1_python_loop`, compiled code :claimed:`s1_jit`. The slowest run took
# :claimed:`s1_jit_slowest` as long as the best: it must have been the first, with the compiler in it. Each
# compiled call saves the difference between Python's time and its own. The time of the first call, divided by
# this difference, is the number of calls after which the compiler has paid for itself.

import gpuguide as gg

python, compiled = 19.6e-3, 8.86e-6  # as published
first = 19602.14 * compiled
predicted = gg.fact("predicted_calls", round(first / (python - compiled), 1), unit="1")
print(f"by the published figures: after {predicted.value:.1f} calls")

# %%
# .. rst-class:: part-code
#
# Eight ways to a result
# ----------------------
#
# To measure the compiler more than once in a process, each of these functions makes a fresh compiled
# function, so that nothing is left from the call before. What they compile is the loop from above. As a
# **Python loop** it is one of the eight.
#
# .. kernel:: gpuguide.topics.compile_cost.kernels
#    :names: larger_loops
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: compile_njit, compile_fastmath
#
# **njit** and **njit, fastmath** are what you would write as decorators; the second allows the compiler to
# reorder arithmetic. A :term:`ufunc` can be had without a signature, which is a list of types
# (**vectorize**); it compiles when it is called. With one (**vectorize, signature**) it compiles when it is
# decorated, which often means: when your module is imported.
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: compile_vectorize, compile_signature
#
# **njit, cached** finds its code on disk. A **later call** runs what was compiled before.
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: load_cached, caching_in, call_compiled
#
# And **cuda.jit** compiles a :term:`kernel` for the GPU. Its time includes pageable copies.
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: compile_kernel
#
# Another function searches for primes by :term:`trial division`, in **Python** and with **njit**. It is
# compiled before its clock starts, so its figures are those of later calls.
#
# .. kernel:: gpuguide.topics.primes.kernels_cpu
#    :names: find_primes
#
# .. kernel:: gpuguide.topics.compile_cost.primes_search
#    :names: primes_python, primes_njit

# %%
# .. rst-class:: part-check
#
# Compiled code is checked, too
# -----------------------------
#
# Compiled or not, nothing is timed whose result does not equal the :term:`reference`.

from gpuguide.topics.compile_cost import (
    compile_parts,
    kernels,
    primes_search,
    study as compile_cost,
)
from gpuguide.topics.primes import kernels_cpu

study = compile_cost.study()
study

# %%
# .. rst-class:: part-measure
#
# Once the compiler is loaded
# ---------------------------
#
# First within one process. The compiler has been used by then, so this is what one more function costs.

results = study.run()

# %%

# draw
gg.claim(results, "cached", faster_than="njit", at=32**3)
gg.claim(results, "python", faster_than="njit", at=32**3)

# %%
# With ``parallel=True`` the outer loop is shared out among the cores of the CPU, and the compiler has more to
# analyse. Its compilation is timed by itself, beside that of the plain loops.

facts = {}
box = (a, b, out)
for name, function, options in (
    ("plain", kernels.larger_loops, {}),
    ("parallel", kernels.larger_parallel_loops, {"parallel": True}),
):
    samples = compile_parts.time_compiling(function, box, **options)
    fact = gg.fact(
        f"compile_{name}", float(np.median(samples)), unit="s", samples=samples
    )
    facts[fact.name] = fact
    print(f"{name:9} {fact.value * 1e3:7.1f} ms")

# %%
# Then the primes, with the compiler outside of the clock and timed alone.

samples = compile_parts.time_compiling(kernels_cpu.find_primes, (1,))
compiler = gg.fact("compile_primes", float(np.median(samples)), unit="s", samples=samples)
facts[compiler.name] = compiler
primes = primes_search.study().run()

# %%

# draw
gg.claim(primes, "njit", faster_than="python", at=10_000)

# %%
# Now in fresh processes, in pairs. Both of a pair have the same folder for compiled code. The first finds it
# empty: it imports Numba, calls for the first time, and calls again. The second finds what the first has
# written: its first call is ``fresh_cached``. Then it makes a :term:`context` on the GPU, which CUDA needs
# once in each process, compiles a kernel, and calls it.

for part, samples in compile_parts.measure_fresh_processes().items():
    name = f"fresh_{part}"
    facts[name] = gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
    print(f"{name:20} {facts[name].value * 1e3:9.3f} ms")

# %%
# .. checks:: compiling
#
# .. checks:: primes
#
# First the eight ways within one process, and ``parallel=True`` below them:

# draw
parts = {"python": "run", "later": "run", "cached": "read"}
bars = {
    info.label: {parts.get(info.name, "compile"): results.time(info.name, 32**3)}
    for info in results.variants
    if results.has(info.name, 32**3)
}
bars["njit, parallel"] = {"compile": facts["compile_parallel"]}
gg.plot_decomposition(bars)

# %%
# .. finding::
#
#    Once the compiler is loaded, one more function takes :measured:`compiling[njit, 32**3].time` with
#    ``@njit``, :measured:`compiling[vectorize, 32**3].time` with ``@vectorize``, and
#    :measured:`compiling[kernel, 32**3].time` with ``@cuda.jit``. With ``parallel=True`` it takes
#    :measured:`compile_parallel`. Read from the cache it takes :measured:`compiling[cached, 32**3].time`.
#
# A fresh process has to load the compiler first. That lies within its first call, so one figure holds both:

# draw
took = {name.removeprefix("fresh_"): fact for name, fact in facts.items()}
bars = {
    "empty cache": {"import numba": took["imports"], "load, compile": took["first"]},
    "filled cache": {"import numba": took["imports"], "load, read": took["cached"]},
}
parts = {"context": "context", "load, compile": "kernel_compile", "run": "kernel_call"}
kernel = {part: took[name] for part, name in parts.items() if name in took}
ax = gg.plot_decomposition(bars | ({"then a kernel": kernel} if kernel else {}))
_ = ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)

# %%
# .. finding::
#
#    In a fresh process the first call takes :measured:`fresh_first` with an empty cache and
#    :measured:`fresh_cached` with a filled one. Importing Numba takes :measured:`fresh_imports` in either
#    case. The first kernel for the GPU is compiled in :measured:`fresh_kernel_compile`; to run it takes too
#    little to be seen.
#
# Last, the search for primes, with the time of its compiler as a line across.

# draw
from gpuguide.charts.style import MUTED

ax = gg.plot_time(primes, variants=["python", "njit"])
ax.axhline(facts["compile_primes"].value, color=MUTED, linestyle=":")
_ = ax.annotate(
    "the compiler alone",
    (10, facts["compile_primes"].value),
    (0, 5),
    textcoords="offset points",
    color=MUTED,
)

# %%
# .. finding::
#
#    For the primes below 10 000 Python takes :measured:`primes[python, 10_000].time`, and compiled code
#    :measured:`primes[njit, 10_000].time`, which is :measured:`primes[njit, 10_000].speedup(python)` as fast.
#    But the compiler takes :measured:`compile_primes` before that.
#
# .. results:: compiling
#
# .. results:: primes

# %%
# .. rst-class:: part-reading
#
# Three prices, and who pays them
# -------------------------------
#
# *Loading the compiler* is paid once for each process. It is why the first function takes
# :measured:`fresh_first` in a fresh process, and one more :measured:`compiling[njit, 32**3].time`. A cache on
# disk saves the compiling, not the loading, and so the first call still takes :measured:`fresh_cached`.
#
# *Compiling a version* is paid for each function and each set of types. How long it takes depends on the code
# and on what is asked for, not on the length of the arrays: :measured:`compile_parallel` for the loops that
# are shared out among cores, :measured:`compile_plain` for the plain ones.
#
# *A signature* saves nothing. It moves the price from the first call to the decorator:
# :measured:`compiling[signature, 32**3].time` with it, :measured:`compiling[vectorize, 32**3].time` without,
# each for decorating and calling once. That is worth having when the first call must not be late.

# %%
# After how many calls is the loop paid back here?

# draw
saved = results.time("python", 32**3).value - results.time("later", 32**3).value
calls = results.time("njit", 32**3).value / saved
_ = gg.fact("measured_calls", round(calls, 1), unit="1")
print(f"on this machine: after {calls:.1f} calls")

# %%
# .. list-table:: Calls until the compiler is paid back, 32 768 elements
#    :header-rows: 1
#
#    * - predicted, by the published figures
#      - measured
#    * - :measured:`predicted_calls`
#      - :measured:`measured_calls`

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: an average over the compiler
# ----------------------------------------------
#
# ``%timeit`` makes trial calls to find out how many fit into its time, and does not count them. So the
# compiler is out of its figure, unless the number of calls is given with ``-n``: then there is no trial. Most
# clocks have no trial at all. Here are five calls of a function that was never called before, divided by
# five:

# wrong: the first of the five calls compiles
from time import perf_counter

fresh = njit(kernels.larger_loops)
start = perf_counter()
for _ in range(5):
    fresh(a, b, out)
print(f"an average of {(perf_counter() - start) / 5 * 1e3:.1f} ms a call")

# %%
# The right way is to call once before the clock starts. And one reading says little: while the compiler
# works, the machine may do something else as well. So, to see what the wrong average is made of, it is taken
# several times, each time of a fresh function. In turns with it another one is compiled on a clock of its
# own, and then called five times. Of all three the :term:`median` is shown.

taken = compile_parts.average_with_compiler()
for part, samples in taken.items():
    name = f"wrong_{part}"
    facts[name] = gg.fact(name, float(np.median(samples)), unit="s", samples=samples)

# %%

# draw
share = facts["wrong_compile"].value / 5
_ = gg.explained(
    "wrong_explained",
    [share, facts["wrong_call"].value],
    facts["wrong_average"].value,
    note="a fifth of the compilation, and a call",
)

# %%
# A call is too short to be seen beside its share of the compiler:

# draw
gg.plot_decomposition(
    {
        "average of five": {"not taken apart": facts["wrong_average"].value},
        "its parts": {
            "a fifth of compiling": facts["wrong_compile"].value / 5,
            "a call": facts["wrong_call"].value,
        },
    }
)

# %%
# .. finding::
#
#    In the median the average says :measured:`wrong_average`. Compiling takes :measured:`wrong_compile`, and
#    a call right after it :measured:`wrong_call`. A fifth of the compiler and a call come to
#    :measured:`wrong_explained` of the average.
#
# There is a worse form of this. Where the decorator stands inside the function that is timed, every call
# compiles, and a call in advance does not help. Decorate at the top of a module.

# %%
# .. rst-class:: part-when-not-to
#
# When Python is done sooner
# --------------------------
#
# A script that runs once, over a little data, should not be compiled. One run of the loop over 32 768
# elements takes Python :measured:`compiling[python, 32**3].time`; to compile it and run it once takes
# :measured:`compiling[njit, 32**3].time`. All primes below 100 take Python
# :measured:`primes[python, 100].time`, and the compiler alone :measured:`compile_primes`. And where NumPy has
# the function already, nobody needs a compiler.
#
# The cache has a trap of its own. It notices that a function has changed by the date and the size of the
# file that holds it. If the function calls another one in another file, and only that one changes, the old
# code is read.

# %%
# .. rst-class:: part-on-your-gpu
#
# Your CPU, your disk
# -------------------
#
# The compiler runs on one core of the CPU, for kernels too. A faster GPU does not make it faster. Loading
# depends on the disk, and on whether the operating system still has the files in memory; here it has.
# ``@cuda.jit`` takes ``cache=True`` like ``@njit``. A GPU ufunc, ``@vectorize`` with ``target="cuda"``, does
# not.
#
# ``gpuguide run compile_cost`` measures yours.

# %%
# .. rst-class:: part-your-turn
#
# A benchmark that lies
# ---------------------
#
# The exercise is a clock that goes wrong in several ways at once; compiling inside of it is one. Mend it. The
# check compares what it says with the true times of simulated machines.
#
# .. exercise:: lying_benchmark
#
# .. question:: Called with an int, with a float, and with an int again: how often does a function compile?
#
#    Twice: once for the whole number, once for the float. The third call finds the first version.
#
# .. question:: Your program starts many short processes. What helps more, a signature or a cache?
#
#    The cache. A signature makes every process compile at its start. A cache lets one of them compile and the
#    others read. Both leave the import of Numba to each process.

# %%
# .. rst-class:: part-next
#
# From compiled loops to kernels
# ------------------------------
#
# Onward: :doc:`First kernel </gallery/first_kernels/first_kernel>` compiles for the GPU, and takes its first
# call apart. Sideways: :doc:`Ufuncs on the GPU </gallery/first_kernels/ufuncs>` has the compiler and the
# copies in one call, and :doc:`Benchmark well </gallery/measuring/benchmark_well>` five more mistakes with a
# clock. Used here: :class:`gpuguide.Study`, :func:`gpuguide.explained`, :func:`gpuguide.plot_decomposition`.
