"""
One buffer, many libraries
==========================

How do CuPy, Numba, PyTorch and JAX work on the same array without a copy?
"""
# %%
# They pass on an address. CuPy hands an array of any size to PyTorch in :measured:`torch_from_cupy`. 256 MiB
# go through PyTorch and back in :measured:`tripled[through_torch, 2**26].time` when they are shared, and in
# :measured:`tripled[through_pinned, 2**26].time` by way of pinned host memory. Only the order is up to you.

# %%
# CuPy to Numba: one address, two views
# -------------------------------------
#
# An array on the GPU is an address, a shape, a type and strides. A library that knows these can work on the
# memory of another. Every array of the four libraries gives them away in a dictionary, the *CUDA array
# interface*, so a Numba kernel takes CuPy's array as it is.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def triple(x):
    """Each thread multiplies its element by three."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 3


x = cp.arange(6, dtype=cp.float32)
triple[1, 32](x)
print("CuPy: ", x)
print("NumPy:", 3 * np.arange(6, dtype=np.float32))

view = cuda.as_cuda_array(x)
numba_address, read_only = view.__cuda_array_interface__["data"]
print("one address:", x.data.ptr == numba_address, " read-only:", read_only)

# %%
# .. try-it::
#
#    Write ``x[::2]`` for ``x`` in the launch. The kernel triples every second element of ``x``: a view of
#    CuPy's has the same memory, and its *strides* say how far apart the elements lie. Print
#    ``x[::2].__cuda_array_interface__`` to see them.

# %%

# record: Two studies, what each hand-over costs, who comes too early, and a timeline
import gpuguide as gg
from gpuguide.measure.turns import launches_in_turns
from gpuguide.topics.interop import handing_over
from gpuguide.topics.interop import study as interop

results = interop.study().run()
waiting = interop.waiting_study().run()
for name, seconds in launches_in_turns(handing_over.hand_overs()).items():
    gg.fact(name, float(np.median(seconds)), unit="s", samples=seconds)
for name, count in handing_over.too_early().items():
    gg.fact(f"early_{name}", count, unit="1", note=f"of {handing_over.TRIALS} trials")
gg.fact("trials", handing_over.TRIALS, unit="1")
for name, in_order in (("torch_interface", False), ("torch_dlpack", True)):
    _ = gg.keep(f"timeline_{name}", handing_over.timeline(in_order))

# %%
# CuPy to PyTorch: DLPack
# -----------------------
#
# PyTorch understands the dictionary, too, but its own way is *DLPack*: one function, ``from_dlpack``, which
# all of these libraries have but Numba. It passes the same facts in a form for C, and one more: the stream.
#
# The cells with PyTorch and JAX need these packages, in versions for CUDA. Without them, leave these cells
# out; all others run.

import torch

tensor = torch.from_dlpack(x)
print("one address:", tensor.data_ptr() == x.data.ptr, tensor.device)
tensor += 1  # PyTorch writes, CuPy sees it
print("CuPy: ", x)
back = cp.from_dlpack(tensor)
print("and back:", back.data.ptr == x.data.ptr, back.dtype)

# %%
# Nothing of the kind happens by itself: ``torch.add(x, 1)`` does not take CuPy's array. Nor does it help to
# leave ``device`` out of ``torch.as_tensor(x, device="cuda")``, PyTorch's function for the dictionary: it
# then copies to the CPU.

# %%
# CuPy to JAX: arrays that must not change
# ----------------------------------------
#
# JAX takes most of the GPU's memory when it starts, unless a variable is set before. Its arrays never change:
# an operation makes a new one. So hand JAX what nobody writes to any more, and do not write into what JAX
# hands you.

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax.numpy as jnp

array = jnp.from_dlpack(x)
print("one address:", array.unsafe_buffer_pointer() == x.data.ptr)
tripled = cp.from_dlpack(3 * array)
print("JAX:  ", tripled, type(tripled))

# %%
# What a hand-over costs, and what copying would
# ----------------------------------------------
#
# .. list-table:: Host time to hand over 4 MiB; in each field, both arrays have one address
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
#      -
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
# Now a whole way: an array of Numba's goes to CuPy, from there to another library, which triples it, and
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
#    At 256 MiB, PyTorch on shared memory takes :measured:`tripled[through_torch, 2**26].time`, and CuPy alone
#    :measured:`tripled[in_cupy, 2**26].time`. Through pinned host memory it is
#    :measured:`tripled[through_pinned, 2**26].time`, through pageable memory
#    :measured:`tripled[through_pageable, 2**26].time`.
#
# For small arrays, only Python counts: at 1024 numbers, CuPy alone takes
# :measured:`tripled[in_cupy, 2**10].time`, shared with PyTorch it is :measured:`tripled[through_torch,
# 2**10].time`, and with JAX :measured:`tripled[through_jax, 2**10].time`. To copy on the GPU, on the way there
# and on the way back, makes 256 MiB take :measured:`tripled[copied_on_gpu, 2**26].time`. That is the price if
# two libraries must not disturb each other.
#
# .. kernel:: gpuguide.topics.interop.study
#    :names: in_cupy, through_torch, through_jax, copied_on_gpu, through_pinned, through_pageable
#    :fold: What is timed
#
# .. results:: tripled

# draw: Claims
gg.claim(results, "through_torch", faster_than="copied_on_gpu", at=2**26, by=1.3)
gg.claim(results, "through_torch", faster_than="through_pinned", at=2**26, by=10)
gg.claim(results, "through_pinned", faster_than="through_pageable", at=2**26, by=1.5)
gg.claim(waiting, "torch", faster_than="numba", at=2**20, clock="launch", by=3)

# %%
# Two streams: who waits for whom
# -------------------------------
#
# An address does not say whether the numbers are there yet. Each library puts its work into a :term:`stream`
# of its own, and work in two streams has no order. With :term:`DLPack`, the reader's library says which
# stream it will use, and the writer's library makes that stream wait. The host goes on. The interface only
# names the writer's stream: Numba then waits on the host, until the stream is empty, and PyTorch does not look.

# draw
from gpuguide.charts.timeline import plot_timeline

_ = plot_timeline(
    {
        "torch.as_tensor(x, device='cuda')": arrays["timeline_torch_interface"],
        "torch.from_dlpack(x)": arrays["timeline_torch_dlpack"],
    },
    ("CuPy writes", "PyTorch reads"),
    piece="step",
)

# %%
# .. finding::
#
#    CuPy changes an array in its own stream, and PyTorch adds it up. Through the interface, PyTorch read while
#    CuPy still wrote, in :measured:`early_torch_interface` of :measured:`trials` trials; with DLPack in
#    :measured:`early_torch_dlpack`.
#
# .. list-table:: CuPy writes in a stream of its own; then another library reads
#    :header-rows: 1
#
#    * - hand-over
#      - too early
#      - the host waits
#    * - ``torch.from_dlpack(x)``
#      - :measured:`early_torch_dlpack` of :measured:`trials`
#      - :measured:`waiting[torch, 2**20].launch`
#    * - the same, outside of ``with stream:``
#      - :measured:`early_torch_outside` of :measured:`trials`
#      -
#    * - ``torch.as_tensor(x, device="cuda")``
#      - :measured:`early_torch_interface` of :measured:`trials`
#      -
#    * - ``jnp.from_dlpack(x)``
#      - :measured:`early_jax_dlpack` of :measured:`trials`
#      - :measured:`waiting[jax, 2**20].launch`
#    * - ``cuda.as_cuda_array(x)``
#      - :measured:`early_numba_view` of :measured:`trials`
#      - :measured:`waiting[numba, 2**20].launch`
#    * - ``kernel[blocks, threads](x)``
#      - :measured:`early_numba_launch` of :measured:`trials`
#      -

# %%
# What is refused, and what the messages say
# ------------------------------------------
#
# A description can say more than the other library can hold. The usual cases, with what is really raised:

reversed_x, every_second = x[::-1], x[::2]
with_gradient = torch.ones(3, device="cuda", requires_grad=True)
on_host = np.ones(3)

for code in (
    "torch.from_dlpack(reversed_x)",
    "jnp.from_dlpack(every_second)",
    "torch.as_tensor(array, device='cuda')",
    "cp.from_dlpack(with_gradient)",
    "cp.from_dlpack(on_host)",
):
    try:
        print(f"{code}\n    {type(eval(code)).__name__}")
    except Exception as error:
        message = str(error).splitlines()[0]
        print(f"{code}\n    {type(error).__name__}: {message}")

# %%
# Your turn: a block by hand
# --------------------------
#
# The dictionary is not magic: you can write one yourself, for any block of an array.
#
# .. exercise:: block_interface

# %%
# Next
# ----
#
# Onward: :doc:`Exercises </practice/puzzles>`, all of them without a GPU if need be. Sideways:
# :doc:`Launch overhead </gallery/first_kernels/launch_overhead>`, on views made once.
