"""
Pay for compiling only once
===========================

When does Numba compile, how long does it take, and how often do you pay?
"""
# %%
# Call a compiled function once before its time matters, and keep it on disk with ``cache=True``. The first
# call of a small function takes :measured:`compiling[njit, 32**3].time`, since Numba compiles it. With the
# cache it takes :measured:`compiling[cached, 32**3].time`, and a later call
# :measured:`compiling[later, 32**3].time`. Only the very first function of a process takes longer, with or
# without a cache.
#
# .. headline:: Only the first call is slow, and a cache on disk saves most of it
#
# .. drawn:: compile_cost
#
#     calls = {"Python loop,\nevery call": ("python", "run"), "njit,\nfirst call": ("njit", "compile")}
#     calls |= {"njit, first call\nwith a cache": ("cached", "read"), "njit,\nlater call": ("later", "run")}
#     bars = {label: {part: results.time(name, 32**3)} for label, (name, part) in calls.items()}
#     gg.plot_decomposition(bars)

# %%
# JIT compilation: one version per set of types
# ---------------------------------------------
#
# Make the first call with the types that you will use, or the function compiles again later. Numba waits for
# that call, looks at the types of the arguments, and compiles the function for them, which is called
# :term:`JIT compilation`. A call with the same types runs that version, and a call with other types compiles
# another one. When the process ends, all versions are lost, unless ``cache=True`` keeps them on disk.
#
# .. headline:: Other types compile anew, and so does a new process without a cache
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
# What one more function costs
# ----------------------------
#
# Use ``parallel=True`` only where it gains, as it compiles longest by far. How long a compilation takes
# depends on the code and on the decorator, and not on the length of the arrays.
#
# .. csv-table:: Compile one small function, and call it once
#    :header: decorator | time
#    :delim: |
#
#    ``@vectorize`` | :measured:`compiling[vectorize, 32**3].time`
#    ``@cuda.jit`` | :measured:`compiling[kernel, 32**3].time`
#    ``@njit`` | :measured:`compiling[njit, 32**3].time`
#    ``@njit(parallel=True)`` | :measured:`compile_parallel`
#
# With a signature, such as ``@vectorize(["float32(float32, float32)"])``, a function compiles when it is
# decorated, which usually means when your module is imported. That saves no time, but no call has to wait.
#
# This loop takes :measured:`compiling[python, 32**3].time` in Python, so compiling it pays after about
# :measured:`calls_to_pay_back` calls.
#
# .. kernel:: gpuguide.topics.compile_cost.kernels
#    :names: larger_loops, larger_parallel_loops
#    :fold: The loops, and those that threads share
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: compile_njit, compile_vectorize, compile_signature
#    :fold: How each function is compiled and called
#
# .. kernel:: gpuguide.topics.compile_cost.study
#    :names: compile_kernel, later, cached, caching_in
#    :fold: A kernel, with copies of pageable arrays; a later call; the cache

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
gg.claim(results, "cached", faster_than="njit", at=32**3, by=10)
gg.claim(results, "python", faster_than="njit", at=32**3)
gg.claim(results, "later", faster_than="python", at=32**3, by=100)
saved = results.time("python", 32**3).value - results.time("later", 32**3).value
calls = gg.fact(
    "calls_to_pay_back", round(results.time("njit", 32**3).value / saved), unit="1"
)

# %%
# When compiling pays: primes
# ---------------------------
#
# Compile what runs long or often, and leave the rest to Python. This function looks for primes by
# :term:`trial division`:
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
# To find all primes below 10 000, Python takes :measured:`primes[python, 10_000].time`. Compiled code takes
# :measured:`primes[njit, 10_000].time`, but compiling takes as long as Python did:
# :measured:`compile_primes`. You gain from the second search on. Below 100, Python takes
# :measured:`primes[python, 100].time`, and would have to search thousands of times before compiling pays.

# draw
gg.claim(primes, "njit", faster_than="python", at=10_000, by=2)

# %%
# The compiler inside a benchmark
# -------------------------------
#
# Call once before the clock starts. ``%timeit`` does so by itself, with trial calls that it does not count. A
# clock around a loop does not:

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
# In the fastest of several tries this mean is :measured:`wrong_average`, and a call takes
# :measured:`wrong_call`. Nearly all of it is the compiler.
#
# Decorate at the top of a module. With a decorator inside the function that is timed, every call makes a new
# function and compiles it, and a call in advance does not help.

# %%
# A new process: load, then compile or read
# -----------------------------------------
#
# Let one process do much, rather than start many. Each one imports Numba, which takes
# :measured:`fresh_imports`, and its first call also loads the compiler: it takes :measured:`fresh_first`, and
# with a cache still most of that. Only further functions are then read in
# :measured:`compiling[cached, 32**3].time` each. A signature does not help here, as each process compiles
# anew.

# record: First calls in fresh processes
for part, samples in compile_parts.measure_fresh_processes().items():
    gg.fact(f"fresh_{part}", float(np.median(samples)), unit="s", samples=samples)

# %%
# .. headline:: The first function of a process has to load the compiler, too

# draw
first = {"import Numba": facts["fresh_imports"], "load, compile": facts["fresh_first"]}
bars = {
    "first function\nof a process": first,
    "one more\nfunction": {"compile": results.time("njit", 32**3)},
}
_ = gg.plot_decomposition(bars)

# %%
# **Delete** ``__pycache__`` **after a change in another file.** The cache notices a change by the date and
# the size of the file that holds the function. If the function calls another one in another file, and only
# that file changes, Numba goes on with the old code. And a GPU :term:`ufunc`, ``@vectorize`` with
# ``target="cuda"``, takes no ``cache=True``; ``@cuda.jit`` does.

# %%
# .. remember::
#
#    - Put ``@njit(cache=True)`` on functions of programs that start often: they are ready after
#      :measured:`compiling[cached, 32**3].time` instead of :measured:`compiling[njit, 32**3].time`.
#    - Put ``@njit`` on functions at the top of a module, never inside a function that is called often: Numba
#      would compile at every call.

# %%
# Your turn: compile before the first client comes
# ------------------------------------------------
#
# CuPy compiles at the first call, too, and for each type anew. Here, the clients of a service pay for it.
# Compile before they come.
#
# .. exercise:: warm_start

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import CPU

names = {"first call": "njit", "first call, cache=True": "cached", "later call": "later"}
times = {label: results.time(name, 32**3) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a compiled function", [CPU] * 3)

# %%
# Next
# ----
#
# Next: :doc:`First kernel </gallery/first_kernels/first_kernel>`, which compiles for the GPU. See also:
# :doc:`Seven mistakes in GPU benchmarks </gallery/measuring/benchmark_well>`, on what else a clock can get
# wrong.
