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
# What a hand-over costs, and what it saves
# -----------------------------------------
