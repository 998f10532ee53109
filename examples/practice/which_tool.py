"""
Which tool: CuPy, Numba, C++ or Triton
======================================

Which tool should you take for a computation of your own, and what does each one cost you?
"""
# %%
# Start with CuPy's functions. When your program waits for an expression that sends a large array through
# memory several times, make one kernel of it. PyTorch's ``torch.compile`` does so by itself: from two lines,
# it makes the softmax of 67 million numbers :measured:`softmax[torch_compile, 8192**2].speedup(cupy)` as fast
# as CuPy's functions. A kernel of your own gains little more: in CUDA C++, it is
# :measured:`softmax[raw, 8192**2].speedup(cupy)` as fast. So write one where ``torch.compile`` cannot help,
# in the language that you and your colleagues read with ease.
#
# .. headline:: One kernel instead of five matters most; its language matters less
#
# .. drawn:: which_tool
#
#    import matplotlib.pyplot as plt
#
#    from gpuguide.charts.style import CUPY, KERNEL, LIBRARY, MUTED, describe, style
#
#    names = {
#        "CuPy, 5 kernels": ("cupy", CUPY),
#        "cp.fuse, 4 kernels": ("fused", CUPY),
#        "PyTorch's softmax": ("torch", LIBRARY),
#        "torch.compile": ("torch_compile", LIBRARY),
#        "Numba's successor": ("numba_cuda_mlir", KERNEL),
#        "Numba": ("numba_kernel", KERNEL),
#        "CUDA C++": ("raw", KERNEL),
#        "Triton": ("triton_kernel", KERNEL),
#    }
#    times = {label: results.time(name, 8192**2) for label, (name, _) in names.items()}
#    longest = max(time.value for time in times.values())
#    with style():
#        ax = plt.subplots(figsize=(7.2, 2.9))[1]
#        for row, (label, time) in enumerate(times.items()):
#            ax.barh(row, time.value, 0.66, color=names[label][1])
#            ax.text(time.value + 0.02 * longest, row, str(time), va="center", weight="bold")
#        end = {"ha": "right", "va": "center"}
#        ax.text(1.25 * longest, 5.4, "one kernel\nof your own", color=KERNEL, weight="bold", **end)
#        ax.text(1.25 * longest, 7, "shorter is better", color=MUTED, fontsize=9, **end)
#        ax.set_yticks(range(len(times)), list(times))
#        ax.set(xlim=(0, 1.25 * longest), xticks=[], ylim=(len(times) - 0.5, -0.6))
#        ax.grid(visible=False)
#        ax.spines["bottom"].set_visible(False)
#        words = "; ".join(f"{label} {time}" for label, time in times.items())
#        describe(ax, f"Bars of the time for the softmax of 8192 rows of 8192 numbers. {words}.")

# %%
# The task: a softmax of each row
# -------------------------------
#
# The *softmax* turns the numbers of a row into shares that add up to 1: subtract the largest number, raise e
# to what remains, and divide by the sum. It stands for all work that needs a row more than once. With
# functions on whole arrays it is two lines, for NumPy and CuPy alike:

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
# For 8192 rows of 8192 numbers, NumPy needs :measured:`softmax[numpy, 8192**2].time` on one thread, and
# PyTorch :measured:`softmax[torch_cpu, 8192**2].time` on all threads of the CPU. CuPy needs
# :measured:`softmax[cupy, 8192**2].time`, but it launches :measured:`kernels_cupy` kernels, as PyTorch's
# profiler counts them. They take :measured:`softmax[cupy, 8192**2].work(passes)` over the matrix to read and
# write it, where one kernel takes two. :evidence:`count passes`
#
# Count the passes before you write a kernel: the time should shrink as they do, here to a quarter. To see
# that alone, we wrote CuPy's five kernels ourselves, in Numba. One kernel is
# :measured:`softmax[numba_kernel, 8192**2].speedup(five_kernels)` as fast as these five.
# :evidence:`variant five_kernels` The rest of its lead over CuPy has nothing to do with passes: our five are
# :measured:`softmax[five_kernels, 8192**2].speedup(cupy)` as fast as CuPy's. We think that CuPy's launches
# give each thread too little to do, as :doc:`for an addition </gallery/fast_kernels/kernel_families>`.
# :evidence:`opinion`

# %%

# record: The study: one softmax by every tool, each checked and then timed; first calls in fresh processes
import gpuguide as gg
from gpuguide.topics.which_tool import fresh, rivals, study
from gpuguide.topics.which_tool.kernels import numba_kernel, raw_source

first_calls = fresh.measure_first_calls()
results = study.softmax.run()
few = study.few.run()
for name, seconds in first_calls.items():
    gg.fact(f"first_{name}", seconds, unit="s", note="in a fresh process, after imports")
if "numba_cuda_mlir" in first_calls:
    own = {
        "numba_kernel": numba_kernel,
        "numba_cuda_mlir": rivals.successor().numba_kernel,
    }
    for name, kernel in own.items():
        gg.fact(
            f"local_{name}", rivals.local_bytes(kernel), unit="B", note="for each thread"
        )
if "torch_compile" in first_calls:
    for name in ("cupy", "torch_compile"):
        launched, note = fresh.kernels_launched(name), "by PyTorch's profiler"
        gg.fact(f"kernels_{name}", launched, unit="1", note=note)

# %%
# If you have ..., use ...
# ------------------------
#
# .. list-table:: How many times as fast as CuPy's functions our softmax is
#    :header-rows: 1
#
#    * - you have
#      - use
#      - speed, and price
#    * - NumPy code
#      - CuPy
#      - 1; another import
#    * - a task that a library knows
#      - ``torch.softmax``, ``cp.sort``, ``a @ b``
#      - :measured:`softmax[torch, 8192**2].speedup(cupy)`; one line
#    * - an expression of several operators
#      - ``cp.fuse``, sums :doc:`outside </gallery/fast_kernels/fusion>`
#      - :measured:`softmax[fused, 8192**2].speedup(cupy)`; a decorator
#    * - PyTorch's tensors, and several operators or sums
#      - ``torch.compile``
#      - :measured:`softmax[torch_compile, 8192**2].speedup(cupy)`; a decorator, and
#        :measured:`first_torch_compile` for the first call
#    * - sums, scans or sorts with your own operators
#      - :doc:`ReductionKernel </gallery/fast_kernels/kernel_families>`, ``cuda.compute``
#      - :measured:`softmax[cuda_compute, 8192**2].speedup(cupy)` by ``cuda.compute``, after
#        :measured:`first_cuda_compute` for the first call
#    * - threads that share rows, tiles or neighbours
#      - Numba
#      - :measured:`softmax[numba_kernel, 8192**2].speedup(cupy)`; grids and barriers
#    * - PyTorch's tensors, and ``torch.compile`` is too slow
#      - Triton
#      - :measured:`softmax[triton_kernel, 8192**2].speedup(cupy)`; tiles of 2, 4, 8, ... numbers
#    * - CUDA C++, or many short launches
#      - ``cp.RawKernel``
#      - :measured:`softmax[raw, 8192**2].speedup(cupy)`; types that nobody checks
#
# ``torch.softmax`` is slower than a kernel of your own, but it takes all shapes and types, and knows its
# gradient. So replace a library's function only where you have measured that your program waits for it. Then
# try ``torch.compile`` first, which launches :measured:`kernels_torch_compile` kernel here, and is nearly as
# fast as ours in Numba. :evidence:`count kernels_launched` But as we use it, it compiles anew for each shape,
# and CuPy's arrays have to :doc:`become tensors </gallery/concurrency/interop>`.
#
# .. kernel:: gpuguide.topics.which_tool.in_torch
#    :names: torch_compile
#    :fold: The two lines with torch.compile

# %%
# One kernel in Numba
# -------------------
#
# A block of 512 threads takes one row of up to 8192 numbers. Each thread keeps 16 of them, so that the row is
# read once. The block finds the largest number and the sum by shuffles and a little shared memory.
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
# The same kernel, line by line. CuPy compiles and launches it.
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
# You write what happens to a whole row, and the compiler shares it among threads: there are no shuffles and
# no barriers to get wrong. The ``width`` is the next power of two, and ``mask`` leaves out what is too much.
# The arrays are PyTorch's tensors, which share CuPy's memory.

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
# All three kernels above come near the peak memory speed. What differs more is how much you write, and how
# long the first call takes, in which the kernel is compiled.
#
# .. list-table:: The softmax of 8192 rows of 8192 numbers
#    :header-rows: 1
#
#    * - tool
#      - lines
#      - first call
#      - share of peak memory speed
#    * - CuPy
#      - :measured:`lines_cupy`
#      - :measured:`first_cupy`
#      - :measured:`softmax[cupy, 8192**2].share`
#    * - ``torch.compile``
#      - :measured:`lines_torch_compile`
#      - :measured:`first_torch_compile`
#      - :measured:`softmax[torch_compile, 8192**2].share`
#    * - Numba
#      - :measured:`lines_numba_kernel`
#      - :measured:`first_numba_kernel`
#      - :measured:`softmax[numba_kernel, 8192**2].share`
#    * - CUDA C++
#      - :measured:`lines_raw`
#      - :measured:`first_raw`
#      - :measured:`softmax[raw, 8192**2].share`
#    * - Triton
#      - :measured:`lines_triton_kernel`
#      - :measured:`first_triton_kernel`
#      - :measured:`softmax[triton_kernel, 8192**2].share`
#
# Imports come on top. CuPy, Triton and, with ``cache=True``, Numba keep compiled kernels on disk, so that
# only the first process waits for the compiler.
#
# .. dropdown:: More tools, and what a launch takes
#
#    .. list-table::
#       :header-rows: 1
#
#       * - tool
#         - lines
#         - first call
#         - share of peak
#       * - ``torch.softmax``
#         - :measured:`lines_torch`
#         - :measured:`first_torch`
#         - :measured:`softmax[torch, 8192**2].share`
#       * - ``cp.fuse``
#         - :measured:`lines_fused`
#         - :measured:`first_fused`
#         - :measured:`softmax[fused, 8192**2].share`
#       * - ``ReductionKernel`` and ``ElementwiseKernel``
#         - :measured:`lines_own_elementwise`
#         - :measured:`first_own_elementwise`
#         - :measured:`softmax[own_elementwise, 8192**2].share`
#       * - ``cuda.compute``
#         - :measured:`lines_cuda_compute`
#         - :measured:`first_cuda_compute`
#         - :measured:`softmax[cuda_compute, 8192**2].share`
#       * - ``cupyx.jit``
#         - :measured:`lines_cupyx_jit`
#         - :measured:`first_cupyx_jit`
#         - :measured:`softmax[cupyx_jit, 8192**2].share`
#       * - numba-cuda-mlir
#         - :measured:`lines_numba_cuda_mlir`
#         - :measured:`first_numba_cuda_mlir`
#         - :measured:`softmax[numba_cuda_mlir, 8192**2].share`
#
#    With five of all these tools, we wrote one kernel of two passes, and the slowest takes :measured:`spread`
#    as long as the fastest. In ``cupyx.jit``, which has no local arrays, it keeps the row in shared memory.
#
#    The slowest is numba-cuda-mlir, Numba's successor, which makes more instructions of the same kernel than
#    Numba: the warps execute :measured:`softmax[numba_cuda_mlir, 8192**2].counter(instructions)` instead of
#    :measured:`softmax[numba_kernel, 8192**2].counter(instructions)`. :evidence:`counter instructions` A
#    scheduler issues one in :measured:`softmax[numba_cuda_mlir, 8192**2].counter(issue_active)` of the clock
#    cycles, instead of :measured:`softmax[numba_kernel, 8192**2].counter(issue_active)`. Both compilers keep
#    the row in registers, for a thread has :measured:`local_numba_cuda_mlir` of local memory. But while
#    Numba's warps wait mostly for memory, the successor's wait mostly for an instruction before, so that its
#    many instructions hold the kernel up. :evidence:`counter stall_cycles`
#
#    The first call of ``jax.jit`` takes :measured:`first_jax`. JAX has a stream of its own, so only the time
#    from the call until the result is there could be measured: :measured:`softmax[jax, 8192**2].time`, launch
#    included.
#
#    To launch the kernel once more, Python needs :measured:`softmax[raw, 8192**2].launch` for the RawKernel,
#    :measured:`softmax[triton_kernel, 8192**2].launch` for Triton and
#    :measured:`softmax[numba_kernel, 8192**2].launch` for Numba. A kernel as long as this one hides that;
#    :doc:`short ones do not </gallery/first_kernels/launch_overhead>`.
#
# With few numbers, the launch decides. For 256 rows of 256 numbers, CuPy's kernels run for
# :measured:`few[cupy, 2**16].time`, but Python needs longer than that to launch them. PyTorch has its result
# on the CPU sooner than they are launched, so leave small arrays there if they are there already. If they are
# on the GPU, take ``torch.softmax``: it runs for :measured:`few[torch, 2**16].time`, and Python needs about
# as long to launch it as for a RawKernel.
#
# .. dropdown:: The softmax of 256 rows of 256 numbers
#
#    Of the two times on the GPU, the longer one is what you wait for when you call it again and again:
#
#    .. list-table::
#       :header-rows: 1
#
#       * - tool
#         - Python launches it in
#         - it runs for
#       * - CuPy
#         - :measured:`few[cupy, 2**16].launch`
#         - :measured:`few[cupy, 2**16].time`
#       * - Numba
#         - :measured:`few[numba_kernel, 2**16].launch`
#         - :measured:`few[numba_kernel, 2**16].time`
#       * - CUDA C++
#         - :measured:`few[raw, 2**16].launch`
#         - :measured:`few[raw, 2**16].time`
#       * - ``torch.softmax``
#         - :measured:`few[torch, 2**16].launch`
#         - :measured:`few[torch, 2**16].time`
#       * - NumPy, one thread
#         -
#         - :measured:`few[numpy, 2**16].time`
#       * - PyTorch, all threads of the CPU
#         -
#         - :measured:`few[torch_cpu, 2**16].time`
#
# .. kernel:: gpuguide.topics.which_tool.kernels
#    :names: largest_of_rows, differences, powers, sums_of_rows, quotients
#    :fold: In five kernels with Numba
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
for name, times in {
    "triton_kernel": 7.4,
    "raw": 7.3,
    "numba_kernel": 6.7,
    "torch_compile": 6.2,
    "numba_cuda_mlir": 4.8,
    "torch": 3.5,
    "cuda_compute": 2.3,
    "five_kernels": 1.8,
    "fused": 1.25,
}.items():
    gg.claim(results, name, faster_than="cupy", at=n, by=times)
gg.claim(results, "torch_compile", faster_than="torch", at=n, by=1.55)
gg.claim(results, "raw", faster_than="torch_compile", at=n, by=1.03)
gg.claim(results, "numba_kernel", faster_than="five_kernels", at=n, by=3.3)
gg.claim(results, "cupy", faster_than="torch_cpu", at=n, by=6.6)
gg.claim(results, "numba_kernel", faster_than="numba_cuda_mlir", at=n, by=1.25)
gg.claim(results, "raw", faster_than="numba_cuda_mlir", at=n, by=1.35)
gg.claim(results, "raw", faster_than="torch", at=n, by=1.8)
gg.claim(few, "torch", faster_than=["raw", "numba_kernel", "cupy"], at=2**16, by=1.5)
for name, share in (("triton_kernel", 0.85), ("raw", 0.84), ("numba_kernel", 0.77)):
    gg.claim(results, name, share_at_least=share, at=n)

# %%
# Where each one is going, in November 2026
# -----------------------------------------
#
# - **Numba** compiles for GPUs through numba-cuda, here 0.30.4, which has been `in maintenance
#   <https://github.com/NVIDIA/numba-cuda/issues/902>`__ since June 2026: serious bugs are repaired, but NumPy
#   2.5 is not supported. Stay with it for now.
# - **numba-cuda-mlir** is its successor, and a kernel needs only other imports: ``from numba_cuda_mlir import
#   cuda``, and ``float32`` from ``numba_cuda_mlir.types``. With version 0.6.0, our kernel takes
#   :measured:`softmax[numba_kernel, 8192**2].speedup(numba_cuda_mlir)` as long, and its first call
#   :measured:`first_numba_cuda_mlir` instead of :measured:`first_numba_kernel`. Two bugs are
#   shown below.
# - **cuda.compute**, in cuda-cccl 1.2.1, compiles your operators with numba-cuda-mlir, too. It asks for a
#   version below 0.6, but ran with 0.6.0 here.
# - **cupyx.jit**, in CuPy 14.2, warns that it is experimental and may change.
# - **Triton**, here 3.6.0, comes with `PyTorch <https://docs.pytorch.org/docs/stable/>`__ for Linux, and its
#   versions follow PyTorch's. ``torch.compile`` writes its kernels in Triton.
#
# .. dropdown:: Others that you will hear of, the last three not measured here
#
#    - `JAX <https://docs.jax.dev/>`__ compiles and differentiates whole functions of arrays.
#    - `Warp <https://nvidia.github.io/warp/>`__ is for simulations: kernels in Python, and their gradients.
#    - `cuTile <https://docs.nvidia.com/cuda/cutile-python/>`__ is NVIDIA's language for kernels on tiles. It
#      is young, and takes Hopper GPUs, such as the H200, only since CUDA 13.3.
#    - `cuDF <https://docs.rapids.ai/api/cudf/stable/>`__ is for tables, with the functions of pandas.

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
# Run your tests after you have changed the import. In version 0.6.0, ``if out.size`` takes a size of four for
# false, and one of five for true: it seems to ask whether the size is odd. There is no error. And ``max`` of
# three numbers is not compiled at all:

# wrong: a size of four that counts as false, and a max of three numbers
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
# Write ``out.size > 0``, and ``max`` of two numbers at a time:


@cuda_mlir.jit
def fill(out):
    i = cuda_mlir.grid(1)
    if out.size > 0 and i < out.size:
        out[i] = 1


@cuda_mlir.jit
def largest_of_three(x, out):
    i = cuda_mlir.grid(1)
    if i < out.size:
        larger = max(x[i], x[i + 1])
        out[i] = max(larger, x[i + 2])


filled = cp.zeros(4, dtype=cp.float32)
fill[1, 32](filled)
print(filled.size, "elements:", filled)
largest_of_three[1, 32](x[0], filled)
expected = cp.stack([x[0, k : k + 4] for k in range(3)]).max(axis=0)
print("largest of three:", bool((filled == expected).all()))

# %%
# .. remember::
#
#    - Take CuPy, or a library's function, until your program waits for it. If a large array then goes through
#      memory more than twice, make one kernel of it: ``torch.compile`` makes our softmax
#      :measured:`softmax[torch_compile, 8192**2].speedup(cupy)` as fast.
#    - Choose the language of a kernel by who will read it: ours reaches
#      :measured:`softmax[numba_kernel, 8192**2].share` of the peak memory speed in Numba, and
#      :measured:`softmax[raw, 8192**2].share` in CUDA C++.
#    - Before you move from numba-cuda to numba-cuda-mlir, run your tests with both.

# %%
# Your turn: a softmax by warps
# -----------------------------
#
# Write the kernel yourself, with a warp for each row and without shared memory. The check needs no GPU.
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
