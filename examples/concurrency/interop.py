"""
One buffer, many libraries
==========================

How do CuPy, Numba, PyTorch and JAX work on the same array without a copy?
"""
# %%
# They pass on its address. Handing an array of any size from CuPy to PyTorch takes the host
# :measured:`torch_from_cupy`. 128 MiB go through PyTorch and back in
# :measured:`tripled[through_torch, 2**25].time` if they are shared, and in
# :measured:`tripled[through_pinned, 2**25].time` by way of pinned host memory. Keeping their work in order is
# up to you.

# %%
# CuPy to Numba: the CUDA array interface
# ---------------------------------------
#
# An array on the GPU is an address, a shape, a type and strides. A library that knows these can work on the
# memory of another. CuPy's array offers them in a dictionary, so a Numba kernel takes it as it is. ``view``
# is an array of Numba's own, and has the same address.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def triple(x):
    """Each thread multiplies its element by three."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 3


x = cp.arange(65_536, dtype=cp.float32)
triple[(x.size + 255) // 256, 256](x)
print("CuPy: ", x[:6])
print("NumPy:", 3 * np.arange(6, dtype=np.float32))

view = cuda.as_cuda_array(x)
told = view.__cuda_array_interface__
print("one address:", told["data"][0] == x.data.ptr)
print({key: told[key] for key in ("shape", "typestr", "strides", "version")})

# %%
# .. try-it::
#
#    Write ``x[::2]`` for ``x`` in both places where Numba gets it. The kernel then triples every second
#    element of ``x``, and ``strides`` says how many bytes apart they lie. Nothing was copied.
#
# This dictionary is the *CUDA array interface*. Arrays of all four libraries have it.

# %%

# record: Two studies, what each hand-over costs, who comes too early, and a timeline
import gpuguide as gg
from gpuguide.measure.turns import launches_in_turns
from gpuguide.topics.interop import handing_over
from gpuguide.topics.interop import study as interop

results = interop.tripled.run()
waiting = interop.waiting.run()
for name, seconds in launches_in_turns(handing_over.hand_overs()).items():
    gg.fact(name, float(np.median(seconds)), unit="s", samples=seconds)
gg.fact("trials", handing_over.TRIALS, unit="1")
gg.fact("queued_before", interop.DELAY_NS / 1e9, unit="s", note="set by us")
for name, count in handing_over.too_early().items():
    gg.fact(f"early_{name}", count, unit="1", note=f"of {handing_over.TRIALS} trials")
for name, in_order in (("torch_interface", False), ("torch_dlpack", True)):
    _ = gg.keep(f"timeline_{name}", handing_over.timeline(in_order))

# %%
# CuPy to PyTorch: DLPack
# -----------------------
#
# PyTorch reads the dictionary with ``torch.as_tensor(x, device="cuda")``. *DLPack* is better: it says the
# same, in a structure of C, and also lets the reader say which stream is going to read. Its function is
# ``from_dlpack``, and all of these libraries have it but Numba.
#
# The cells with PyTorch and JAX need these packages, in versions for CUDA. Without them, leave those cells
# out; the others run.

import torch

tensor = torch.from_dlpack(x)
print("one address:", tensor.data_ptr() == x.data.ptr, tensor.device)
tensor += 1
print("CuPy sees it:", x[:6])
back = cp.from_dlpack(tensor)
print("and back:", back.data.ptr == x.data.ptr, type(back))

# %%
# The memory stays as long as one of them needs it: after ``del x``, the tensor is as good as before. In the
# end the bytes go back to CuPy's :doc:`memory pool </gallery/moving_data/memory_pools>`.

# %%
# CuPy to JAX: arrays that must not change
# ----------------------------------------
#
# JAX takes most of the GPU's memory when it starts, unless a variable is set before. Its arrays never change;
# each operation makes a new one. So hand JAX only what nobody will write to, and do not write to what it
# hands you.

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax.numpy as jnp

array = jnp.from_dlpack(x)
print("one address:", array.unsafe_buffer_pointer() == x.data.ptr)
print("JAX: ", cp.from_dlpack(3 * array)[:6])
print("told to be read-only:", array.__cuda_array_interface__["data"][1])

np.asarray(array)  # JAX keeps this copy, for its arrays never change
x += 1  # but the memory is CuPy's, too
print("one array, two answers:", np.asarray(array)[0], jnp.add(array, 0)[0])

# %%
# What a hand-over costs, and what copying would
# ----------------------------------------------
#
# .. list-table:: Host time to hand over an array of 4 MiB. In each field both arrays have the same address.
#    :header-rows: 1
#    :stub-columns: 1
#
#    * - from
#      - to CuPy
#      - to Numba
#      - to PyTorch
#      - to JAX
#    * - CuPy
#      -
#      - :measured:`numba_from_cupy`
#      - :measured:`torch_from_cupy`
#      - :measured:`jax_from_cupy`
#    * - Numba
#      - :measured:`cupy_from_numba`
#      -
#      - :measured:`torch_from_numba`
#      - :measured:`jax_from_numba`
#    * - PyTorch
#      - :measured:`cupy_from_torch`
#      - :measured:`numba_from_torch`
#      -
#      - :measured:`jax_from_torch`
#    * - JAX
#      - :measured:`cupy_from_jax`
#      - :measured:`numba_from_jax`
#      - :measured:`torch_from_jax`
#      -
#
# .. kernel:: gpuguide.topics.interop.handing_over
#    :names: hand_overs
#    :fold: The calls in this table
#
# Now a round trip. An array of Numba's goes to CuPy, from there to another library, which triples it, and
# back to CuPy.

# draw
_ = gg.plot_time(
    results,
    variants=[
        "in_cupy",
        "through_torch",
        "through_jax",
        "through_pinned",
        "through_pageable",
    ],
)

# %%
# .. finding::
#
#    At 128 MiB, PyTorch on CuPy's array takes :measured:`tripled[through_torch, 2**25].time`, and CuPy alone
#    :measured:`tripled[in_cupy, 2**25].time`. Through pinned memory of the host it is
#    :measured:`tripled[through_pinned, 2**25].time`, through :term:`pageable memory`
#    :measured:`tripled[through_pageable, 2**25].time`.
#
# For small arrays only the host counts. With 8192 numbers CuPy alone takes
# :measured:`tripled[in_cupy, 2**13].time`, "PyTorch, shared" :measured:`tripled[through_torch, 2**13].time`
# and "JAX, shared" :measured:`tripled[through_jax, 2**13].time`. JAX takes no longer for 128 MiB, so there,
# too, the host decides. If PyTorch gets a copy, made on the GPU, and its result is copied as well, 128 MiB
# take :measured:`tripled[copied_on_gpu, 2**25].time`: the price for libraries that must not disturb each
# other.
#
# So an array need not stay in one library. For a large one, PyTorch's product with a number is
# :measured:`tripled[through_torch, 2**25].speedup(in_cupy)` as fast as CuPy's, hand-overs included.
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` shows what CuPy's kernel lacks.
#
# .. kernel:: gpuguide.topics.interop.study
#    :names: in_cupy, through_torch, through_jax, copied_on_gpu, through_pinned, through_pageable
#    :fold: What is timed
#
# .. results:: tripled

# draw: Claims
gg.claim(results, "through_torch", faster_than="in_cupy", at=2**25)
gg.claim(results, "through_torch", faster_than="copied_on_gpu", at=2**25, by=2)
gg.claim(results, "through_torch", faster_than="through_pinned", at=2**25, by=10)
gg.claim(results, "through_pinned", faster_than="through_pageable", at=2**25, by=3)
gg.claim(waiting, "torch", faster_than="numba", at=2**20, clock="launch", by=3)

# %%
# Two streams: who waits for whom
# -------------------------------
#
# An address does not say whether the numbers are there yet. Work in one :term:`stream` runs in order, work in
# two streams does not. CuPy, Numba and PyTorch use the default stream as long as nobody makes another, so
# simple programs run in order without further ado. Here CuPy works in a stream of its own, and does not know
# what Numba does:

# wrong: CuPy reads while Numba's kernels still run
stream = cp.cuda.Stream(non_blocking=True)
large = cp.ones(2**27, cp.float32)
cp.cuda.Device().synchronize()  # the ones are there
with stream:
    for _ in range(15):
        triple[2**19, 256](large)
    print("all 15 in time:", float(large[-1]) == 3**15)

# %%
# The kernels went into Numba's default stream. Give them CuPy's:

cp.cuda.Device().synchronize()  # now they are done
numba_stream = cuda.external_stream(stream.ptr)
with stream:
    large[:] = 1
    for _ in range(15):
        triple[2**19, 256, numba_stream](large)
    print("all 15 in time:", float(large[-1]) == 3**15)

# %%
# A hand-over is the moment at which libraries agree on the order. With DLPack the reader says which stream
# it is going to use, and the writer makes that stream wait for its own. The host goes on.
# :evidence:`variant torch` The interface only says which stream the writer used, and the reader has to wait.
# Numba does so on the host :evidence:`variant numba_at_once`, PyTorch not at all.
# :evidence:`count too_early`

# draw
from gpuguide.charts.timeline import plot_timeline

_ = plot_timeline(
    {
        "torch.as_tensor(x, device='cuda')": arrays["timeline_torch_interface"],
        "torch.from_dlpack(x)": arrays["timeline_torch_dlpack"],
    },
    ("CuPy writes", "PyTorch reads"),
)

# %%
# .. finding::
#
#    Through the interface, PyTorch adds up an array while CuPy still changes it. In
#    :measured:`early_torch_interface` of :measured:`trials` trials it saw old numbers; with DLPack in
#    :measured:`early_torch_dlpack`.
#
# In this table each library uses a stream of its own. The last column is the time that the host takes to
# launch :measured:`queued_before` of work in the writer's stream and to hand the array over behind it.
#
# .. list-table::
#    :header-rows: 1
#
#    * - hand-over
#      - read too early
#      - host
#    * - ``torch.from_dlpack(x)``
#      - :measured:`early_torch_dlpack` of :measured:`trials`
#      - :measured:`waiting[torch, 2**20].launch`
#    * - ``jnp.from_dlpack(x)``
#      - :measured:`early_jax_dlpack` of :measured:`trials`
#      - :measured:`waiting[jax, 2**20].launch`
#    * - ``cuda.as_cuda_array(x)``
#      - :measured:`early_numba_view` of :measured:`trials`
#      - :measured:`waiting[numba, 2**20].launch`
#    * - ``cuda.as_cuda_array(x, sync=False)``
#      - :measured:`early_numba_at_once` of :measured:`trials`
#      - :measured:`waiting[numba_at_once, 2**20].launch`
#    * - ``kernel[blocks, threads](x)``
#      - :measured:`early_numba_launch` of :measured:`trials`
#      -
#    * - ``torch.as_tensor(x, device="cuda")``
#      - :measured:`early_torch_interface` of :measured:`trials`
#      -
#    * - ``torch.from_dlpack(x)``, after ``with stream:``
#      - :measured:`early_torch_outside` of :measured:`trials`
#      -
#    * - none: CuPy reads what a Numba kernel wrote
#      - :measured:`early_numba_back` of :measured:`trials`
#      -
#    * - none: CuPy reads what PyTorch wrote
#      - :measured:`early_torch_back` of :measured:`trials`
#      -
#    * - ``cp.from_dlpack(tensor)`` after that
#      - :measured:`early_torch_dlpack_back` of :measured:`trials`
#      -
#
# So hand over *after* the writer has launched its work, *inside* its ``with stream:``, and hand back in the
# same way. A view or a tensor that was made once knows nothing of later work.
#
# .. kernel:: gpuguide.topics.interop.handing_over
#    :names: too_early
#    :fold: The trials
#
# .. kernel:: gpuguide.topics.interop.study
#    :names: behind_work, to_torch, to_jax, to_numba, to_numba_without_waiting
#    :fold: The hand-overs behind work
#
# .. results:: waiting

# %%
# What is refused, in the libraries' own words
# --------------------------------------------
#
# A library may not support what the description says: a type, a stride, a flag. The last expression of this
# cell hands JAX's array to a Numba kernel.

import textwrap

with_gradient = torch.ones(3, device="cuda", requires_grad=True)
halves = torch.ones(3, device="cuda", dtype=torch.bfloat16)

for code in (
    "x + tensor",
    "torch.add(x, 1)",
    "np.from_dlpack(x)",
    "cp.from_dlpack(with_gradient)",
    "cp.from_dlpack(halves)",
    "jnp.from_dlpack(x[::2])",
    "jnp.from_dlpack(cp.arange(3)).dtype",
    "torch.as_tensor(array, device='cuda')",
    "triple[256, 256](array)",
):
    try:
        said = str(eval(code))
    except Exception as error:
        said = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    print(code, textwrap.indent(textwrap.fill(said, 80), "    "), sep="\n")

# %%

# record: A mirrored array, in a process of its own
from gpuguide.topics.interop import refused

for code, words in refused.outcomes(["torch.from_dlpack(x[::-1])"]).items():
    print(f"{code}\n    {words}")

# %%
# What to do instead, from top to bottom:
#
# - Libraries do not mix in one expression. Hand over first.
# - NumPy has no GPU: ``x.get()`` copies.
# - A tensor that records its gradient is handed over by ``with_gradient.detach()``.
# - CuPy takes PyTorch's ``bfloat16``, if the package ``ml_dtypes`` is there.
# - JAX takes no array with gaps: ``cp.ascontiguousarray(x[::2])`` copies it.
# - JAX uses 32 bits unless told otherwise. An ``int64`` array becomes ``int32``, and that is a copy.
# - PyTorch does not take a read-only array from the interface. ``torch.from_dlpack(array)`` works, and it is
#   up to you not to write to it.
# - A Numba kernel takes ``cuda.as_cuda_array(array)``. It is up to you here, too.
#
# One case is not refused, and it is the worst. PyTorch has no negative strides, and a mirrored array such as
# ``x[::-1]`` ends the process: with ``torch.from_dlpack`` in this recording, and with ``torch.as_tensor``
# when we tried it before. Copy it first.

# %%
# Your turn: an order by events
# -----------------------------
#
# What DLPack does when it hands an array over, you can do yourself: make one stream wait for another, while
# Python goes on.
#
# .. exercise:: fork_and_join

# %%
# Next
# ----
#
# Onward: :doc:`Exercises </practice/puzzles>`, which need no GPU. Sideways:
# :doc:`Launch overhead </gallery/first_kernels/launch_overhead>`, on views that are made once.
