"""
What compiling costs
====================

When does Numba compile, how long does it take, and how often do you pay?
"""
# %%
# In a fresh process, the first call of a small function with ``@njit`` takes :measured:`fresh_first`. Most of
# that loads the compiler. Compiling the function takes :measured:`compiling[njit, 32**3].time`, reading it
# from disk, by ``cache=True``, :measured:`compiling[cached, 32**3].time`, and a later call
# :measured:`compiling[later, 32**3].time`.

# %%
# JIT compilation: one version per set of types
# ---------------------------------------------
#
# Python finds out what ``a > b`` means each time it comes to it. A compiler has to know it once, before
# anything runs. So Numba waits for the first call, looks at the types of the arguments, and compiles the
# function for these: :term:`JIT compilation`. A call with the same types runs the compiled version. A call
# with other types compiles another one. When the process ends, all versions are lost, unless ``cache=True``
# keeps them on disk.
#
# .. drawing:: compile_cost
#
#     Four calls as bars of time. The first call is a piece of loading, a long piece of compiling and a short
#     piece of running. The second only runs. A call with other types compiles again. In a new process with a
#     cache, a short piece of reading takes the place of compiling; the loading remains.
#
# A compiled function lists its versions, so no clock is needed to see when one is added.

import numpy as np
from numba import njit


@njit
def larger_box(a, b, out):
    """Fill a box with the larger of two elements, in three loops."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                out[i, j, k] = a[i, j, k] if a[i, j, k] > b[i, j, k] else b[i, j, k]


a, b = np.random.default_rng(0).random((2, 32, 32, 32), np.float32)
out = np.empty_like(a)
print("versions when it is decorated: ", len(larger_box.signatures))
larger_box(a, b, out)
print("after a call with float32:     ", len(larger_box.signatures))
larger_box(a, b, out)
print("after another one:             ", len(larger_box.signatures))
larger_box(a.astype(float), b.astype(float), out.astype(float))
print("after a call with float64:     ", len(larger_box.signatures))
print("Numba:", out[0, 0, :3])
print("NumPy:", np.maximum(a, b)[0, 0, :3])

# %%
# .. try-it::
#
#    Add ``larger_box(a[::2], b[::2], out[::2])``. The numbers are still ``float32``, and yet there is a
#    third version: how an array lies in memory is part of its type.

# %%
# Compiling one more function
# ---------------------------
#
# Once the compiler is loaded, each new function and each new set of types costs a compilation. How long it
# takes depends on the code and on the options, not on the length of the arrays. Here each call makes a new
# compiled function and calls it once, for 32\ :sup:`3` elements.
#
# .. kernel:: gpuguide.topics.compile_cost.kernels
#    :names: larger_loops, larger_parallel_loops
#    :fold: The loops, and those that threads share
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: compile_njit, compile_vectorize, compile_signature
#    :fold: How each function is compiled and called
#
# **njit** compiles at the call. **vectorize** makes a :term:`ufunc`, which also compiles at the call.
# **vectorize, signature** names the types beforehand: it compiles when it is decorated, which usually means
# when your module is imported. That saves no time, but the first call does not wait. **cuda.jit** compiles a
# :term:`kernel`; its time includes the copies of pageable arrays.
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: compile_kernel, later, cached, caching_in
#    :fold: A kernel, a later call, and the cache

# %%

# record: The study: one more function in seven ways, and the compiler alone with parallel=True
import gpuguide as gg
from gpuguide.topics.compile_cost import compile_parts, study
from gpuguide.topics.compile_cost.kernels import larger_parallel_loops

results = study.compiling.run()
samples = compile_parts.time_compiling(
    larger_parallel_loops, (a, b, out), n_turns=1, parallel=True
)
_ = gg.fact("compile_parallel", float(np.median(samples)), unit="s", samples=samples)

# %%

# draw
parts = {"python": "run", "later": "run", "cached": "read"}
bars = {
    # In two lines, there is room for the chart on a phone.
    info.label.replace(", ", ",\n"): {
        parts.get(info.name, "compile"): results.time(info.name, 32**3)
    }
    for info in results.variants
    if results.has(info.name, 32**3)
}
gg.plot_decomposition(bars)

# %%
# .. finding::
#
#    One more function takes :measured:`compiling[njit, 32**3].time` with ``@njit``,
#    :measured:`compiling[vectorize, 32**3].time` with ``@vectorize``, and
#    :measured:`compiling[kernel, 32**3].time` with ``@cuda.jit``. ``@njit(parallel=True)`` does
#    not fit into the chart: it takes :measured:`compile_parallel`.
#
# A **Python loop** takes :measured:`compiling[python, 32**3].time`, a **later call** of compiled code
# :measured:`compiling[later, 32**3].time`. So the compiler has paid for itself after
# :measured:`calls_to_pay_back` calls.
#
# .. results:: compiling

# draw
gg.claim(results, "cached", faster_than="njit", at=32**3, by=10)
gg.claim(results, "python", faster_than="njit", at=32**3)
gg.claim(results, "later", faster_than="python", at=32**3, by=100)
saved = results.time("python", 32**3).value - results.time("later", 32**3).value
calls = gg.fact("calls_to_pay_back", results.time("njit", 32**3).value / saved, unit="1")

# %%
# Primes: compile first, then start the clock
# -------------------------------------------
#
# The next function looks for primes by :term:`trial division`. The clock starts after the compilation.
#
# .. kernel:: gpuguide.topics.primes.kernels_cpu
#    :names: find_primes

# %%

# record: The study of primes, and the compiler alone
from gpuguide.topics.primes.kernels_cpu import find_primes

primes = study.primes.run()
samples = compile_parts.time_compiling(find_primes, (1,), n_turns=1)
_ = gg.fact("compile_primes", float(np.median(samples)), unit="s", samples=samples)

# %%
# To find all primes below 10 000 takes Python :measured:`primes[python, 10_000].time`, and compiled code
# :measured:`primes[njit, 10_000].time`. But the compiler takes :measured:`compile_primes` before that. If you
# search only once, the two add up to about as much as Python takes. For the primes below 100, Python takes
# :measured:`primes[python, 100].time`. It would have to search thousands of times before compiling pays.
#
# .. results:: primes

# draw
gg.claim(primes, "njit", faster_than="python", at=10_000, by=2)

# %%
# The compiler inside a benchmark
# -------------------------------
#
# ``%timeit`` makes trial calls that it does not count, so its figure does not include the compiler. A clock
# around a loop makes no such calls. Here is the average of five calls of a function that was never called
# before.

# wrong: the first of the five calls compiles
from time import perf_counter


def five_calls(function):
    start = perf_counter()
    for _ in range(5):
        function(a, b, out)
    return (perf_counter() - start) / 5


print(f"an average of {five_calls(njit(larger_box.py_func)) * 1e3:.1f} ms per call")

# %%

# record: The same five calls again, beside the compiler and a call on clocks of their own
from gpuguide.measure.turns import beside_compilation

taken = beside_compilation(five_calls, larger_box, (a, b, out), n_turns=5)
for name, samples in zip(
    ("wrong_average", "wrong_compile", "wrong_call"), taken, strict=True
):
    gg.fact(name, min(samples), unit="s", samples=samples, note="the fastest turn")

# %%
# Whatever else runs on the machine can only make such a figure larger, so we compare the fastest of several
# turns. A fifth of a compilation, timed alone, and one call make up :measured:`wrong_explained` of the
# average. So nearly all of it is the compiler: a call takes :measured:`wrong_call`. The cure is to call once
# before the clock starts.
#
# A decorator inside the function that is timed is worse. Then every call makes a new function and compiles
# it, and a call in advance does not help. Decorate at the top of a module.

# draw
_ = gg.explained(
    "wrong_explained",
    [facts["wrong_compile"].value / 5, facts["wrong_call"].value],
    facts["wrong_average"].value,
    note="a fifth of the compilation, and a call",
)

# %%
# Result: a cache saves the compiling, not the loading
# ----------------------------------------------------
#
# The compiler is loaded once in each process. Two fresh processes show what that costs. Both have the same
# folder for ``cache=True``: the first finds it empty, the second finds what the first has written. Then the
# second loads CuPy, makes a :term:`context` on the GPU, which CUDA needs once in each process, and compiles a
# kernel.

# record: First calls in fresh processes
for part, samples in compile_parts.measure_fresh_processes().items():
    gg.fact(f"fresh_{part}", float(np.median(samples)), unit="s", samples=samples)

# %%

# draw
took = {name.removeprefix("fresh_"): fact for name, fact in facts.items()}
bars = {
    "empty cache": {"import numba": took["imports"], "load, compile": took["first"]},
    "filled cache": {
        "import numba": took["cached_imports"],
        "load, read": took["cached"],
    },
}
parts = {
    "CuPy, context": "context",
    "load, compile": "kernel_compile",
    "run": "kernel_call",
}
kernel = {part: took[name] for part, name in parts.items() if name in took}
ax = gg.plot_decomposition(bars | ({"then a kernel": kernel} if kernel else {}))
_ = ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)

# %%
# .. finding::
#
#    Most of a first call is loading. Such a call takes :measured:`fresh_first` with an empty cache and
#    :measured:`fresh_cached` with a filled one. Importing Numba comes before it and takes
#    :measured:`fresh_imports`. The first kernel for the GPU takes :measured:`fresh_kernel_compile` to
#    compile, loading included.
#
# A process has only one first call, so each run times it once, and the two bars show only roughly what a
# cache saves. With everything loaded, it is plain: compiling takes
# :measured:`compiling[njit, 32**3].time`, and reading :measured:`compiling[cached, 32**3].time`.
# :evidence:`variant cached` If your program starts many short processes, a cache helps and a signature does
# not: with a signature each of them compiles.
#
# The cache has a trap. It notices a change by the date and the size of the file that holds the function. If
# the function calls another one in another file, and only that file changes, Numba reads the old code. And a
# GPU ufunc, ``@vectorize`` with ``target="cuda"``, takes no ``cache=True``; ``@cuda.jit`` does.

# %%
# Your turn: compile before the first client comes
# ------------------------------------------------
#
# CuPy compiles at the first call, too, and for each type anew. Here, the clients of a service pay for it.
# Compile before they come.
#
# .. exercise:: warm_start

# %%
# Next
# ----
#
# Onward: :doc:`First kernel </gallery/first_kernels/first_kernel>`, which compiles for the GPU. Sideways:
# :doc:`Eight mistakes in GPU benchmarks </gallery/measuring/benchmark_well>`, on more mistakes with a clock.
