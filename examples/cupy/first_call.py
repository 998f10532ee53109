"""
The first call
==============

Why is the first call so slow, and how do you avoid paying for it every time?
"""
# %%
# Keep the kernel cache, and make first calls before somebody waits. A fresh process needs
# :measured:`empty_whole` to reach its first determinant. Most of that is compiling: with compiled kernels
# cached on disk it needs :measured:`filled_whole`. The fifth determinant takes :measured:`empty_det_5`.
#
# .. csv-table:: A process, up to its first determinant
#    :header: step | cache empty | cache filled
#    :delim: |
#
#    import CuPy|:measured:`empty_imports`|:measured:`filled_imports`
#    context on the GPU|:measured:`empty_context`|:measured:`filled_context`
#    copy a matrix there|:measured:`empty_copy`|:measured:`filled_copy`
#    first ufunc|:measured:`empty_ufunc`|:measured:`filled_ufunc`
#    open cuSOLVER|:measured:`empty_library`|:measured:`filled_library`
#    first determinant|:measured:`empty_det_1`|:measured:`filled_det_1`
#    **all of it**|:measured:`empty_whole`|:measured:`filled_whole`
#
# Each number is a median of its own, so the steps need not add up to the last line.

# %%
# The same determinant five times
# -------------------------------
#
# Time the calls one by one, and wait for the GPU each time.

from time import perf_counter

import cupy as cp
import numpy as np

numbers = np.random.default_rng(0).standard_normal((512, 512), np.float32)
a_host = numbers / np.float32(14)  # else the determinant is too large for float32
a = cp.asarray(a_host)

for call in range(1, 6):
    cp.cuda.Device().synchronize()
    start = perf_counter()
    determinant = cp.linalg.det(a)
    cp.cuda.Device().synchronize()
    print(f"call {call}: {1e3 * (perf_counter() - start):9.2f} ms")
print("CuPy:", determinant, " NumPy:", np.linalg.det(a_host))

# %%
# .. try-it::
#
#    Run the cell again, with ``np.float64`` for ``np.float32`` in both places. The first call is slow once
#    more: what runs on the GPU is compiled for one dtype, and the next dtype needs code of its own. So may
#    another layout in memory, and another number of axes.
#
# This page's process had used the GPU before, and may have found compiled code in the cache. To see all that
# a first call can cost, we start fresh processes.

# %%

# record: First calls in fresh processes, with an empty cache and with a filled one
import gpuguide as gg
from gpuguide.topics.first_call import fresh
from gpuguide.topics.first_call.study import kernel

results = kernel.run()
taken, kernels = fresh.measure_first_calls()
for part, samples in taken.items():
    gg.fact(part, float(np.median(samples)), unit="s", samples=samples)
gg.fact("kernels_ufunc", kernels["ufunc"], unit="1", note="in the cache after it")
left = kernels["empty"] - kernels["ufunc"]
_ = gg.fact("kernels_det", left, unit="1", note="in the cache after it, beside those")

# %%
# Import, context, kernels, libraries
# -----------------------------------
#
# **Importing** CuPy reads its files and those of CUDA's libraries. A :term:`context` is what the driver keeps
# on the GPU for a process; the first call that needs the GPU makes it. Neither depends on what you compute.
#
# What runs on a GPU is a :term:`kernel`, and CuPy comes without most of its own. It has their source, and
# compiles each when it is first needed, with NVIDIA's run-time compiler *NVRTC*, for this
# :term:`compute capability` and these types.
# The first **ufunc**, here the square of each element, takes :measured:`empty_ufunc`, and its second call
# :measured:`empty_ufunc_again`.
#
# ``det`` looks like one function and is many kernels. The ufunc left :measured:`kernels_ufunc` in the cache,
# the first determinant :measured:`kernels_det` more. With a filled cache it takes :measured:`filled_det_1`
# instead of :measured:`empty_det_1`, because nothing is left to compile. :evidence:`variant from_disk`
#
# Some of these kernels use CUB, a library of C++ templates for sums and the like. With
# ``CUPY_ACCELERATORS=`` (nothing after the sign) in the environment CuPy takes kernels of its own instead,
# and the first determinant takes :measured:`plain_det_1`. That helps where no cache can be kept, but then all
# sums of the process do without CUB.
#
# **cuSOLVER** is NVIDIA's library for linear algebra, which ``det`` calls. Opening it takes
# :measured:`filled_library`. With everything compiled, the first determinant still takes
# :measured:`filled_det_1`, and the second :measured:`filled_det_2`. We think that cuSOLVER's own code has to
# come to the GPU first. :evidence:`opinion`

# draw
steps = {
    "import": "imports",
    "context": "context",
    "ufunc": "ufunc",
    "cuSOLVER": "library",
    "det": "det_1",
}
ways = {
    "empty cache": "empty",
    "no CUB": "plain",
    "filled cache": "filled",
    "a copy of it": "copied",
}
bars = {
    label: {step: facts[f"{way}_{part}"] for step, part in steps.items()}
    for label, way in ways.items()
}
gg.plot_decomposition(bars)

# %%
# .. finding::
#
#    Up to its first determinant, a process takes :measured:`empty_whole` with an empty cache, and about
#    :measured:`filled_whole` with a filled one. Without CUB an empty cache costs :measured:`plain_whole`.

# %%
# Compiled, from disk, in memory
# ------------------------------
#
# CuPy writes each compiled kernel into a folder: ``~/.cupy/kernel_cache``, or the one that ``CUPY_CACHE_DIR``
# names. The name of the file is a hash of source, options, compute capability and compiler, so a kernel is
# compiled anew if any of them changes. Inside a process, what was loaded stays in memory.
#
# The source depends on the dtype, on the layout of the array in memory, and on the number of its axes. Each
# new combination is a first call. Here the cache on disk is empty:

import os
from tempfile import mkdtemp

os.environ["CUPY_CACHE_DIR"] = mkdtemp()  # an empty folder: all is compiled anew

table = cp.ones((1000, 1000), dtype=cp.float32)
cube = table.reshape(100, 100, 100)
cases = {
    "float32": table,
    "fewer rows": table[:500],
    "float64": table.astype(cp.float64),
    "fewer columns": table[:, :500],
    "three axes": cube[:, :50, :50],
}
for name, x in cases.items():
    print(f"{name:14}", end="")
    for call in ("first", "second"):
        cp.cuda.Device().synchronize()
        start = perf_counter()
        cp.cbrt(x)
        cp.cuda.Device().synchronize()
        print(f"{call:>8} {1e3 * (perf_counter() - start):7.2f} ms", end="")
    print()

# %%
# Fewer rows compile nothing, because they lie in one piece like the whole table. Fewer columns leave gaps
# between the rows, and code for gaps is other code. The same is true of Numba, which compiles a kernel for
# each combination of dtype, number of axes and layout.

# draw
ax = gg.plot_samples(results, 512**2)
_ = ax.set_xlabel("time of one call, newest run")

# %%
# .. finding::
#
#    The same short kernel is done after :measured:`kernel[compiled, 512**2].time` when it is **compiled**,
#    after :measured:`kernel[from_disk, 512**2].time` when it comes **from disk**, and after
#    :measured:`kernel[in_memory, 512**2].time` when it is **in memory**: medians over all runs, of which the
#    chart shows the newest.
#
# .. kernel:: gpuguide.topics.first_call.study
#    :names: compiled, from_disk, in_memory, twice
#    :fold: The kernel in three ways

# draw: Two claims
gg.claim(results, "from_disk", faster_than="compiled", at=512**2, by=5)
gg.claim(results, "in_memory", faster_than="compiled", at=512**2, by=50)

# %%
# Keep the kernel cache in a container image
# ------------------------------------------
#
# A container starts with the files of its image. If the cache is not among them, each start compiles. So fill
# a cache on a GPU of the same compute capability, and copy it into the image; or keep it on a volume. An H100
# and an H200 share one: both have compute capability 9.0.
#
# .. code-block:: docker
#
#    ENV CUPY_CACHE_DIR=/opt/kernel_cache
#    COPY kernel_cache /opt/kernel_cache
#
# We copied a filled cache into another folder and started a process with it. It compiled nothing, and took
# about :measured:`copied_whole` up to its first determinant. To fill a cache, run your program once, with the
# dtypes and layouts that it will meet. Another compute capability, or another version of CuPy or CUDA, needs
# a cache of its own.

# %%
# Warm up before somebody waits
# -----------------------------
#
# Import, context and libraries cannot be cached on disk. So let a service pay for them when it starts, before
# its first request: call each function once, and wait. Take every dtype, layout and number of axes that will
# come, and sizes like those that will come, as CuPy may choose another kernel for another size.


def warm_up(rows, dtypes):
    for dtype in dtypes:
        invented = cp.eye(rows, dtype=dtype)
        cp.linalg.det(invented)
        cp.linalg.solve(invented, invented[0])
    cp.cuda.Device().synchronize()


warm_up(512, [np.float32])
print("ready")

# %%
# Short processes are the expensive ones. A script that is called for each of a thousand files pays for import
# and context a thousand times. Let one process go through all files.
#
# A benchmark, too, makes a first call that it does not time, as
# :doc:`How to time a GPU </gallery/measuring/how_to_time>` shows.

# %%
# .. remember::
#
#    - Let a service call each function once before its first request, with the dtypes, layouts and sizes that
#      will come. The first determinant takes :measured:`empty_det_1`, the fifth :measured:`empty_det_5`.
#    - Keep the kernel cache on a volume or in the container's image, and name it in ``CUPY_CACHE_DIR``: a
#      process is then ready after :measured:`filled_whole`, without it after :measured:`empty_whole`.
#    - Let one process go through all files. Each new one pays for the import and the context again.

# %%
# Your turn: a service that starts warm
# -------------------------------------
#
# A service remembers what it has seen, so warming it up with invented numbers must leave no trace.
#
# .. exercise:: warm_start

# %%
# Next
# ----
#
# Onward: :doc:`Code for both libraries </gallery/cupy/agnostic>`, NumPy and CuPy.
# Sideways: :doc:`What compiling costs </gallery/compiled_cpu/compile_cost>`, the same question for Numba's
# compiler.
