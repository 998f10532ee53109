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
