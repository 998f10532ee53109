"""
Make first calls fast
=====================

Why is the first call so slow, and how do you avoid paying for it every time?
"""
# %%
# Keep CuPy's kernel cache from one process to the next, and call each function once before somebody waits.
# With an empty cache, a fresh process takes :measured:`empty_whole` until it has its first determinant, and
# with a filled one :measured:`filled_whole`. The fifth determinant takes :measured:`empty_det_5`.
#
# .. headline:: Most of a first call is compiling, and a filled cache saves it
#
# .. drawn:: first_call
#
#     before = ("imports", "context", "copy", "ufunc", "library")
#     ways = {"empty cache": "empty", "filled cache": "filled"}
#     bars = {
#         label: {
#             "import and context": sum(facts[f"{way}_{part}"].value for part in before),
#             "first determinant": facts[f"{way}_det_1"].value,
#         }
#         for label, way in ways.items()
#     }
#     gg.plot_decomposition(bars).figure.set_size_inches(7.2, 2.6)

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
#    more: what runs on the GPU is compiled for one dtype, and the next dtype needs code of its own.
#
# This process had used the GPU before, and found part of the compiled code in the cache. In a fresh process
# with an empty cache the first determinant takes nearly all of the :measured:`empty_whole`.

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
# What a first call pays for
# --------------------------
#
# .. csv-table:: A fresh process, step by step
#    :header: step | cache empty | cache filled
#    :delim: |
#
#    import CuPy|:measured:`empty_imports`|:measured:`filled_imports`
#    make a :term:`context` on the GPU|:measured:`empty_context`|:measured:`filled_context`
#    first ufunc|:measured:`empty_ufunc`|:measured:`filled_ufunc`
#    open cuSOLVER|:measured:`empty_library`|:measured:`filled_library`
#    first determinant|:measured:`empty_det_1`|:measured:`filled_det_1`
#
# Compiling is the step to save. What runs on a GPU is a :term:`kernel`, and CuPy comes without most of its
# own. It has their source, and **compiles** each when it is first needed, for this
# :term:`compute capability` and these types. ``det`` looks like one function and is many kernels: the first
# determinant left :measured:`kernels_det` in the cache. With them there, nothing is left to compile.
# :evidence:`variant from_disk`
#
# The other steps come back in every process. A **context** is what the driver keeps on the GPU for a process;
# the first call that needs the GPU makes it. **cuSOLVER** is NVIDIA's library for linear algebra, which
# ``det`` calls.
#
# .. dropdown:: Where no cache can be kept: CuPy without CUB
#
#    Some of these kernels use CUB, a library of C++ templates for sums and the like, whose code takes long to
#    compile. With ``CUPY_ACCELERATORS=`` (nothing after the sign) in the environment CuPy takes kernels of
#    its own instead. With an empty cache, a fresh process then has its first determinant after
#    :measured:`plain_whole`. But all sums of the process do without CUB.
#
# .. dropdown:: What is left when everything is compiled
#
#    The first determinant with a filled cache takes :measured:`filled_det_1`, and the second
#    :measured:`filled_det_2`. We think that cuSOLVER's own code has to come to the GPU first.
#    :evidence:`opinion`
#
#    Each number in the table is a median of its own, so the steps need not add up to the whole. The copy of
#    the matrix takes :measured:`empty_copy`, the second call of the ufunc :measured:`empty_ufunc_again`, and
#    the ufunc had left :measured:`kernels_ufunc` kernel in the cache.

# %%
# Each dtype, layout and number of axes is compiled anew
# ------------------------------------------------------
#
# The source of a kernel depends on the dtype, on the layout of the array in memory, and on the number of its
# axes. Each new combination is another first call:

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
# Fewer rows lie in one piece like the whole table, and compile nothing. Fewer columns leave gaps between the
# rows, and code for gaps is other code. Numba, too, compiles a kernel for each combination of
# dtype, number of axes and layout.
#
# CuPy writes each compiled kernel into a folder: ``~/.cupy/kernel_cache``, or the one that ``CUPY_CACHE_DIR``
# names. The next process reads it from there, and inside a process it stays in memory.
#
# .. headline:: A kernel that is read from disk is ready far sooner than one that is compiled

# draw
ax = gg.plot_samples(results, 512**2)
_ = ax.set_xlabel("time of one call, newest run")

# %%
# .. dropdown:: When a kernel is compiled again
#
#    The name of the file is a hash of source, options, compute capability and compiler, so a kernel is
#    compiled anew if any of them changes. Over all runs, a short kernel is done after
#    :measured:`kernel[compiled, 512**2].time` when it is compiled, after
#    :measured:`kernel[from_disk, 512**2].time` when it comes from disk, and after
#    :measured:`kernel[in_memory, 512**2].time` when it is in memory.
#
# .. kernel:: gpuguide.topics.first_call.study
#    :names: compiled, from_disk, in_memory, twice
#    :fold: The kernel in three ways

# draw: Two claims
gg.claim(results, "from_disk", faster_than="compiled", at=512**2, by=100)
gg.claim(results, "in_memory", faster_than="compiled", at=512**2, by=1000)

# %%
# Keep the kernel cache in a container image
# ------------------------------------------
#
# A container starts with the files of its image. If the cache is not among them, each start compiles. Fill a
# cache on a GPU of the same compute capability, and copy it into the image; or keep it on a volume. An H100
# and an H200 share one: both have compute capability 9.0.
#
# .. code-block:: docker
#
#    ENV CUPY_CACHE_DIR=/opt/kernel_cache
#    COPY kernel_cache /opt/kernel_cache
#
# To fill a cache, run your program once, with the dtypes and layouts that it will meet. We copied a filled
# cache into another folder: the process that found it there compiled nothing. Another compute capability, or
# another version of CuPy or CUDA, needs a cache of its own.

# %%
# Warm up before somebody waits
# -----------------------------
#
# Import, context and libraries cannot be cached on disk. Let a service pay for them when it starts, before
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
# A script that is started for each of a thousand files pays for import and context a thousand times: let one
# process go through all files. A benchmark, too, makes a first call that it does not time:
# :doc:`/gallery/measuring/how_to_time`.

# %%
# .. remember::
#
#    - Keep CuPy's kernel cache on a volume or in the container's image, and name it in ``CUPY_CACHE_DIR``: a
#      process is then ready after :measured:`filled_whole`, without it after :measured:`empty_whole`.
#    - Let a service call each function once before its first request, with the dtypes, layouts and sizes that
#      will come.

# %%
# Your turn: a service that starts warm
# -------------------------------------
#
# A service remembers what it has seen, so warming it up with invented numbers must leave no trace.
#
# .. exercise:: warm_start

# thumbnail
from gpuguide.charts import thumbnail

waits = {"cache empty": facts["empty_whole"], "cache filled": facts["filled_whole"]}
_ = thumbnail.bars(waits, "time to the first result")

# %%
# Next
# ----
#
# Next: :doc:`/gallery/cupy/agnostic`, for functions that take arrays of either library. See also:
# :doc:`/gallery/compiled_cpu/compile_cost`, the same question for Numba's compiler.
