"""
Which tool: CuPy, Numba, C++ or Triton
======================================

Which tool should you take for a computation of your own, and what does each one cost you?
"""
# %%
# Start with CuPy, and call a library's function if there is one that does the whole job. Write a kernel when
# an expression sends a large array through memory several times. For the softmax of 67 million numbers,
# CuPy's functions take :measured:`softmax[cupy, 8192**2].time`; one kernel takes
# :measured:`softmax[raw, 8192**2].time` in CUDA C++, :measured:`softmax[triton_kernel, 8192**2].time` in
# Triton and :measured:`softmax[numba_kernel, 8192**2].time` in Numba. So take the language that you and your
# colleagues read with ease.
#
# .. headline:: How often the matrix goes through memory counts; the language hardly does
#
# .. drawn:: which_tool
#
#    import matplotlib.pyplot as plt
#
#    from gpuguide.charts.style import CUPY, KERNEL, LIBRARY, MUTED, describe, style
#
#    names = {
#        "CuPy, five functions": ("cupy", CUPY),
#        "cp.fuse": ("fused", CUPY),
#        "with ReductionKernel": ("own_elementwise", CUPY),
#        "cuda.compute": ("cuda_compute", LIBRARY),
#        "cupyx.jit": ("cupyx_jit", KERNEL),
#        "Numba": ("numba_kernel", KERNEL),
#        "numba-cuda-mlir": ("numba_cuda_mlir", KERNEL),
#        "CUDA C++": ("raw", KERNEL),
#        "Triton": ("triton_kernel", KERNEL),
#        "PyTorch's softmax": ("torch", LIBRARY),
#    }
#    n = 8192**2
#    times = {label: results.time(name, n) for label, (name, _) in names.items()}
#    copy = results.time("raw", n).value * results.share("raw", n).value
#    longest = max(time.value for time in times.values())
#    with style():
#        ax = plt.subplots(figsize=(7.2, 3.2))[1]
#        ax.axvline(copy, color=MUTED, linestyle=(0, (3, 2)), linewidth=1)
#        for row, (label, time) in enumerate(times.items()):
#            ax.barh(row, time.value, 0.66, color=names[label][1])
#            ax.text(time.value, row, f"  {time}", va="center", weight="bold")
#        ax.text(copy, -0.75, "a copy of the matrix", ha="center", va="bottom", color=MUTED)
#        ax.set_yticks(range(len(times)), list(times))
#        ax.set(xlim=(0, 1.18 * longest), xticks=[], ylim=(len(times) - 0.5, -0.6))
#        ax.grid(visible=False)
#        ax.spines["bottom"].set_visible(False)
#        words = "; ".join(f"{label} {time}" for label, time in times.items())
#        describe(ax, f"Bars of the time for the softmax of 8192 rows of 8192 numbers. {words}.")

# %%
# The task: a softmax of each row
# -------------------------------
#
# The *softmax* turns the numbers of a row into shares that add up to 1: subtract the largest number, raise e
# to what remains, and divide by the sum. It stands for all work that needs a row more than once, such as
# norms and weights. With functions on whole arrays it is two lines, for NumPy and CuPy alike:

import cupy as cp
import numpy as np


def softmax(xp, x):
    """Turn each row into shares that add up to 1."""
    powers = xp.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


x = cp.random.default_rng(0).random((1000, 1200), dtype=cp.float32) * 8
shares = softmax(cp, x)
print("CuPy: ", shares[0, :3])
print("NumPy:", softmax(np, x.get())[0, :3])

# %%
# .. try-it::
#
#    Leave out ``- x.max(axis=1, keepdims=True)`` and multiply ``x`` by 100. The powers are then too large for
#    ``float32``, and the shares become ``nan``.
#
# NumPy needs :measured:`softmax[numpy, 8192**2].time` for a matrix of 8192 by 8192 numbers on one thread; a
# compiled loop on all threads of the CPU needs :measured:`softmax[cpu_threads, 8192**2].time`. On the GPU,
# CuPy runs five kernels. They read and write the matrix :measured:`softmax[cupy, 8192**2].work(passes)`
# times, where one kernel would read it once and write it once. :evidence:`count passes`

# %%

# record: The study: one softmax by every tool, each checked and then timed; first calls in fresh processes
import gpuguide as gg
from gpuguide.topics.which_tool import fresh, study
from gpuguide.topics.which_tool.kernels import numba_kernel, raw_source

first_calls = fresh.measure_first_calls(meanwhile=study.odd.check_all)
results = study.softmax.run()
for name, seconds in first_calls.items():
    gg.fact(f"first_{name}", seconds, unit="s", note="in a fresh process, after imports")

# %%
# If you have ..., use ...
# ------------------------
#
# .. list-table::
#    :header-rows: 1
#
#    * - you have
#      - use
#      - what it gives
#    * - arrays, and little time to write
#      - CuPy
#      - :measured:`lines_cupy` lines, and :measured:`softmax[cupy, 8192**2].speedup(cpu_threads)` as fast as
#        all threads of the CPU
#    * - a task that a library knows
#      - its function: ``torch.softmax``, ``cp.sort``, ``a @ b``
#      - one line, and :measured:`softmax[torch, 8192**2].share` of a copy's speed
#    * - an expression without sums
#      - ``cp.fuse``
#      - one decorator; here :measured:`softmax[fused, 8192**2].speedup(cupy)` as fast as CuPy
#    * - sums over an expression
#      - ``cp.ReductionKernel``, ``cp.ElementwiseKernel``
#      - :measured:`lines_own_elementwise` lines, :measured:`softmax[own_elementwise, 8192**2].speedup(cupy)`
#        as fast
#    * - threads that share rows, tiles or neighbours
#      - Numba
#      - Python all the way, and :measured:`softmax[numba_kernel, 8192**2].speedup(cupy)` as fast
#    * - tensors of PyTorch, and a step that PyTorch lacks
#      - Triton
#      - :measured:`lines_triton_kernel` lines, no threads, and
#        :measured:`softmax[triton_kernel, 8192**2].speedup(cupy)` as fast
#    * - a kernel that must be as fast as the GPU allows
#      - ``cp.RawKernel``
#      - CUDA C++, which has all that the hardware can do; :measured:`softmax[raw, 8192**2].speedup(cupy)` as
#        fast
#    * - sorts, scans and sums with operators of your own
#      - ``cuda.compute``
#      - NVIDIA's tuned algorithms, without a kernel; here :measured:`softmax[cuda_compute, 8192**2].time`

# %%
# One kernel in Numba
# -------------------
#
# A block of 512 threads takes one row of up to 8192 numbers. Each thread loads 16 of them into a local array,
# which the compiler keeps in registers, so that the row is read once. The threads of a block exchange their
# largest numbers, and later their sums, by shuffles and a little shared memory.
#
# .. rung:: numba_kernel
#    :beside:

import math

from numba import cuda, float32, uint32

rows, cols = x.shape
out = cp.empty_like(x)
numba_kernel[rows, 512](x, out)
print("Numba:", out[0, :3], " as CuPy:", bool(cp.allclose(out, shares, rtol=1e-5)))

# %%
# The same in CUDA C++
# --------------------
#
# The same kernel in other words. CuPy compiles and launches it.
#
# .. kernel:: gpuguide.topics.which_tool.kernels
#    :names: raw_source
#    :fold: The kernel in CUDA C++: raw_source
#
# .. rung:: raw
#    :beside:

out[:] = 0
cp.RawKernel(raw_source, "softmax")((rows,), (512,), (x, out, np.int32(cols)))
print("CUDA: ", out[0, :3], " as CuPy:", bool(cp.allclose(out, shares, rtol=1e-5)))

# %%
# The same in Triton
# ------------------
#
# In Triton you write what happens to a whole row, and the compiler shares it among threads. There are no
# shuffles, no shared memory and no barriers to get wrong. Its arrays are PyTorch's tensors, which share
# CuPy's memory.

import torch
import triton
import triton.language as tl

# %%

# record: The kernel in Triton, imported only here, since not every computer has Triton
from gpuguide.topics.which_tool.in_triton import triton_kernel

# %%
# .. kernel:: gpuguide.topics.which_tool.in_triton
#    :names: triton_kernel
#
# .. rung:: triton_kernel
#    :beside:

tensor, shares_there = torch.from_dlpack(x), torch.empty(x.shape, device="cuda")
triton_kernel[(rows,)](tensor, shares_there, cols, width=2048, num_warps=8)
print("Triton:", cp.from_dlpack(shares_there)[0, :3])
print("torch.softmax:", cp.from_dlpack(torch.softmax(tensor, 1))[0, :3])

# %%
# What each one costs you
# -----------------------
#
# The slowest of the kernels takes :measured:`spread` as long as the fastest. What differs more is what you
# write, how long the first call in a process takes, while the kernel is compiled, and how long Python needs
# for each launch.
#
# .. list-table:: Softmax of 8192 rows of 8192 numbers
#    :header-rows: 1
#
#    * - tool
#      - lines
#      - first call
#      - launch
#    * - CuPy
#      - :measured:`lines_cupy`
#      - :measured:`first_cupy`
#      - :measured:`softmax[cupy, 8192**2].launch`
#    * - Numba
#      - :measured:`lines_numba_kernel`
#      - :measured:`first_numba_kernel`
#      - :measured:`softmax[numba_kernel, 8192**2].launch`
#    * - CUDA C++
#      - :measured:`lines_raw`
#      - :measured:`first_raw`
#      - :measured:`softmax[raw, 8192**2].launch`
#    * - Triton
#      - :measured:`lines_triton_kernel`
#      - :measured:`first_triton_kernel`
#      - :measured:`softmax[triton_kernel, 8192**2].launch`
#    * - PyTorch
#      - :measured:`lines_torch`
#      - :measured:`first_torch`
#      - :measured:`softmax[torch, 8192**2].launch`
#
# CuPy, Triton and, with ``cache=True``, Numba keep compiled kernels on disk, so that most processes do not
# pay for the first call.
#
# .. dropdown:: All tools
#
#    .. list-table::
#       :header-rows: 1
#
#       * - tool
#         - lines
#         - passes
#         - first call
#         - launch
#         - time
#         - share of a copy's speed
#       * - CuPy
#         - :measured:`lines_cupy`
#         - :measured:`softmax[cupy, 8192**2].work(passes)`
#         - :measured:`first_cupy`
#         - :measured:`softmax[cupy, 8192**2].launch`
#         - :measured:`softmax[cupy, 8192**2].time`
#         - :measured:`softmax[cupy, 8192**2].share`
#       * - ``cp.fuse``
#         - :measured:`lines_fused`
#         - :measured:`softmax[fused, 8192**2].work(passes)`
#         - :measured:`first_fused`
#         - :measured:`softmax[fused, 8192**2].launch`
#         - :measured:`softmax[fused, 8192**2].time`
#         - :measured:`softmax[fused, 8192**2].share`
#       * - ``ReductionKernel`` and ``ElementwiseKernel``
#         - :measured:`lines_own_elementwise`
#         - :measured:`softmax[own_elementwise, 8192**2].work(passes)`
#         - :measured:`first_own_elementwise`
#         - :measured:`softmax[own_elementwise, 8192**2].launch`
#         - :measured:`softmax[own_elementwise, 8192**2].time`
#         - :measured:`softmax[own_elementwise, 8192**2].share`
#       * - ``cuda.compute``
#         - :measured:`lines_cuda_compute`
#         - :measured:`softmax[cuda_compute, 8192**2].work(passes)`
#         - :measured:`first_cuda_compute`
#         - :measured:`softmax[cuda_compute, 8192**2].launch`
#         - :measured:`softmax[cuda_compute, 8192**2].time`
#         - :measured:`softmax[cuda_compute, 8192**2].share`
#       * - ``cupyx.jit``
#         - :measured:`lines_cupyx_jit`
#         - :measured:`softmax[cupyx_jit, 8192**2].work(passes)`
#         - :measured:`first_cupyx_jit`
#         - :measured:`softmax[cupyx_jit, 8192**2].launch`
#         - :measured:`softmax[cupyx_jit, 8192**2].time`
#         - :measured:`softmax[cupyx_jit, 8192**2].share`
#       * - Numba
#         - :measured:`lines_numba_kernel`
#         - :measured:`softmax[numba_kernel, 8192**2].work(passes)`
#         - :measured:`first_numba_kernel`
#         - :measured:`softmax[numba_kernel, 8192**2].launch`
#         - :measured:`softmax[numba_kernel, 8192**2].time`
#         - :measured:`softmax[numba_kernel, 8192**2].share`
#       * - numba-cuda-mlir
#         - :measured:`lines_numba_cuda_mlir`
#         - :measured:`softmax[numba_cuda_mlir, 8192**2].work(passes)`
#         - :measured:`first_numba_cuda_mlir`
#         - :measured:`softmax[numba_cuda_mlir, 8192**2].launch`
#         - :measured:`softmax[numba_cuda_mlir, 8192**2].time`
#         - :measured:`softmax[numba_cuda_mlir, 8192**2].share`
#       * - CUDA C++, ``RawKernel``
#         - :measured:`lines_raw`
#         - :measured:`softmax[raw, 8192**2].work(passes)`
#         - :measured:`first_raw`
#         - :measured:`softmax[raw, 8192**2].launch`
#         - :measured:`softmax[raw, 8192**2].time`
#         - :measured:`softmax[raw, 8192**2].share`
#       * - Triton
#         - :measured:`lines_triton_kernel`
#         - :measured:`softmax[triton_kernel, 8192**2].work(passes)`
#         - :measured:`first_triton_kernel`
#         - :measured:`softmax[triton_kernel, 8192**2].launch`
#         - :measured:`softmax[triton_kernel, 8192**2].time`
#         - :measured:`softmax[triton_kernel, 8192**2].share`
#       * - PyTorch
#         - :measured:`lines_torch`
#         -
#         - :measured:`first_torch`
#         - :measured:`softmax[torch, 8192**2].launch`
#         - :measured:`softmax[torch, 8192**2].time`
#         - :measured:`softmax[torch, 8192**2].share`
#
#    JAX compiles ``jax.nn.softmax`` in :measured:`first_jax`. Its work cannot be timed in CuPy's stream; from
#    the call until the result is there, launch included, it takes :measured:`softmax[jax, 8192**2].time`.
#
# .. kernel:: gpuguide.topics.which_tool.arrays
#    :names: fused_parts, fused, own_parts, own_elementwise
#    :fold: With cp.fuse, and with ReductionKernel and ElementwiseKernel
#
# .. kernel:: gpuguide.topics.which_tool.in_jit
#    :names: jit_kernel
#    :fold: With cupyx.jit
#
# .. kernel:: gpuguide.topics.which_tool.in_compute
#    :names: softmax
#    :fold: With cuda.compute

# %%

# draw
from gpuguide.topics.which_tool.lines import lines_written

for name, count in lines_written().items():
    gg.fact(f"lines_{name}", count, unit="1", note="without comments and empty lines")
n = 8192**2
one_kernel = ("numba_kernel", "numba_cuda_mlir", "raw", "triton_kernel", "cupyx_jit")
spans = [results.time(name, n).value for name in one_kernel]
gg.fact("spread", max(spans) / min(spans), unit="ratio", note="slowest / fastest of five")
gg.claim(results, "numba_kernel", faster_than="cupy", at=n, by=2.5)
gg.claim(results, "raw", faster_than="cupy", at=n, by=2.5)
gg.claim(results, "cupy", faster_than="cpu_threads", at=n, by=2)
gg.claim(results, "raw", share_at_least=0.75, at=n)
gg.claim(results, "triton_kernel", share_at_least=0.7, at=n)

# %%
# Where each one is going
# -----------------------
#
# - **Numba** compiles for GPUs through numba-cuda, which has been `in maintenance
#   <https://github.com/NVIDIA/numba-cuda/issues/902>`__ since June 2026 and gets no support for NumPy 2.5.
#   NVIDIA recommends to move to **numba-cuda-mlir**. The kernel above needs only another import for it:
#   ``from numba_cuda_mlir import cuda``. It takes :measured:`softmax[numba_cuda_mlir, 8192**2].time` there,
#   and its first call :measured:`first_numba_cuda_mlir` instead of :measured:`first_numba_kernel`.
# - **cuda.compute** compiles your operators with numba-cuda-mlir, too, and NVIDIA's algorithms around them.
#   Its first call takes :measured:`first_cuda_compute`, so keep it for programs that run for a while. Version
#   1.2.1 asks for a compiler below 0.6, and pip would put an older one in its place; here it runs with 0.6.0.
# - **cupyx.jit** warns when it is first used that it is experimental and may change.
# - **JAX** and **PyTorch** compile whole models and differentiate them: take them if you need gradients, or
#   have their arrays already.
# - Not measured here: `Warp <https://nvidia.github.io/warp/>`__ for simulations with gradients, `cuTile
#   <https://docs.nvidia.com/cuda/cutile-python/>`__ for kernels on tiles, whose quick start says which GPUs
#   it takes, and `cuDF <https://docs.rapids.ai/api/cudf/stable/>`__ for tables.

# fold: The versions measured
from importlib.metadata import PackageNotFoundError, version

for package in (
    "numpy",
    "cupy-cuda13x",
    "numba",
    "numba-cuda",
    "numba-cuda-mlir",
    "cuda-cccl",
    "triton",
    "torch",
    "jax",
):
    try:
        print(f"{package:16}{version(package)}")
    except PackageNotFoundError:
        print(f"{package:16}not installed")

# %%
# What goes wrong: the successor is young
# ---------------------------------------
#
# Before you change the import, run your tests. In version 0.6.0, the size of an array counts as true only if
# it is odd, and no error is raised. ``max`` of three numbers is not compiled at all:

# wrong: two kernels that numba-cuda compiles and that its successor does not get right yet
from numba_cuda_mlir import cuda as cuda_mlir


@cuda_mlir.jit
def fill(out):
    i = cuda_mlir.grid(1)
    if out.size and i < out.size:
        out[i] = 1


@cuda_mlir.jit
def largest_of_three(x, out):
    i = cuda_mlir.grid(1)
    if i < out.size:
        out[i] = max(x[i], x[i + 1], x[i + 2])


for n in (4, 5):
    filled = cp.zeros(n, dtype=cp.float32)
    fill[1, 32](filled)
    print(n, "elements:", filled)
try:
    largest_of_three[1, 32](x[0], filled)
except Exception as error:
    print(type(error).__name__, "-", str(error).splitlines()[0])

# %%
# Write ``out.size > 0``, and ``max(max(a, b), c)``. Both are right for either compiler.

# %%
# .. remember::
#
#    - Take CuPy, or a library's function, until your program waits for it. If a large array then goes through
#      memory more than twice, write one kernel: here it is :measured:`softmax[raw, 8192**2].speedup(cupy)` as
#      fast.
#    - Choose the language of a kernel by who will read it: the slowest takes :measured:`spread` as long as
#      the fastest.

# %%
# Your turn: a softmax by warps
# -----------------------------
#
# Write the kernel yourself, with a warp for each row and nothing to read but shuffles. The check needs no
# GPU.
#
# .. exercise:: row_softmax

# thumbnail
from gpuguide.charts import thumbnail

names = {"CuPy": "cupy", "Numba": "numba_kernel", "CUDA C++": "raw"}
times = {label: results.time(name, 8192**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time of one softmax")

# %%
# Next
# ----
#
# Next: :doc:`From photo to table: stay on the GPU </gallery/practice/image>`, a program of several steps.
# See also: :doc:`Fusion: one kernel, fewer bytes </gallery/fast_kernels/fusion>`, for ``cp.fuse`` and
# ``ElementwiseKernel``, and :doc:`Share arrays between GPU libraries </gallery/concurrency/interop>`.
