"""
Share arrays between GPU libraries
==================================

How do CuPy, Numba, PyTorch and JAX work on one array without a copy?
"""
# %%
# Hand arrays over with ``from_dlpack``: CuPy, PyTorch and JAX then work on the same memory. A round trip of
# 128 MiB to PyTorch, which triples them, takes :measured:`tripled[through_torch, 2**25].time`; copied through
# NumPy, in :term:`pageable memory`, it takes :measured:`tripled[through_pageable, 2**25].time`. A Numba
# kernel takes CuPy's arrays as they are.
#
# .. headline:: A shared array needs no copies
#
# .. drawn:: interop
#
#     from gpuguide.charts.shapes import plot_bars
#
#     ways = ["through_torch", "through_pinned", "through_pageable"]
#     plot_bars(results, ways, at=2**25)

# %%
# Numba: launch kernels on CuPy's arrays
# --------------------------------------
#
# An array on the GPU is an address, a shape, a type and strides. A library that knows these four can work on
# the memory of another one. CuPy's arrays offer them in a dictionary, and Numba's kernels read it.

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
# The dictionary is the *CUDA array interface*, and arrays of all four libraries have it. ``view`` is an array
# of Numba's own at the same address. Make one if you launch many kernels on an array:
# :doc:`Many short kernels </gallery/first_kernels/launch_overhead>` says what it saves.

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
# PyTorch: hand over with from_dlpack
# -----------------------------------
#
# *DLPack* passes on the same four things, and the reader also says in which stream it is going to read. All
# of these libraries but Numba have it, as ``from_dlpack``.

import torch

tensor = torch.from_dlpack(x)
print("one address:", tensor.data_ptr() == x.data.ptr, tensor.device)
tensor += 1
print("CuPy sees it:", x[:6])
back = cp.from_dlpack(tensor)
print("and back:", back.data.ptr == x.data.ptr, type(back))

# %%
# The memory stays as long as one of the two needs it: after ``del x``, the tensor is as good as before. In
# the end the bytes go back to CuPy's :doc:`memory pool </gallery/moving_data/memory_pools>`. If PyTorch or
# JAX is not installed in a version for CUDA, leave its cells out; the others run.

# %%
# JAX: hand over what nobody changes
# ----------------------------------
#
# Arrays of JAX never change; each operation makes a new one. JAX relies on that, so do not write to memory
# that it shares. And set the variable below first, or JAX takes most of the GPU's memory when it starts.

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
# The last line shows what goes wrong otherwise. CuPy wrote to the memory, and JAX, which had kept a copy,
# gives two answers for one array. Hand JAX a copy, ``x.copy()``, of what you will write to.

# %%
# What a hand-over costs
# ----------------------
#
# Only an address is passed on, so the size does not matter. A hand-over takes between
# :measured:`torch_from_numba` and :measured:`jax_from_torch` of Python's time, depending on the two
# libraries. The chart shows a round trip: an array goes to another library, is tripled there, and comes back.
#
# .. headline:: Shared, it costs the same at any size; copied, it grows with it

# draw
_ = gg.plot_time(
    results,
    variants=["in_cupy", "through_torch", "through_jax", "through_pinned"],
)

# %%
# Leave a small array where it is: for 8192 numbers CuPy alone takes :measured:`tripled[in_cupy, 2**13].time`,
# and the way through PyTorch :measured:`tripled[through_torch, 2**13].time`. A large array may go wherever it
# is served best. At 128 MiB, PyTorch's product with a number is
# :measured:`tripled[through_torch, 2**25].speedup(in_cupy)` as fast as CuPy's, hand-overs included; :doc:`How
# many threads, how many blocks </gallery/first_kernels/launch_sizes>` shows what CuPy's lacks.
#
# .. dropdown:: What each hand-over costs
#
#    .. list-table:: Python's time for an array of 4 MiB. In each field both arrays have the same address.
#       :header-rows: 1
#       :stub-columns: 1
#
#       * - from
#         - to CuPy
#         - to Numba
#         - to PyTorch
#         - to JAX
#       * - CuPy
#         -
#         - :measured:`numba_from_cupy`
#         - :measured:`torch_from_cupy`
#         - :measured:`jax_from_cupy`
#       * - Numba
#         - :measured:`cupy_from_numba`
#         -
#         - :measured:`torch_from_numba`
#         - :measured:`jax_from_numba`
#       * - PyTorch
#         - :measured:`cupy_from_torch`
#         - :measured:`numba_from_torch`
#         -
#         - :measured:`jax_from_torch`
#       * - JAX
#         - :measured:`cupy_from_jax`
#         - :measured:`numba_from_jax`
#         - :measured:`torch_from_jax`
#         -
#
#    If two libraries must not disturb each other, hand over a copy. Copied on the GPU, there and back, 128
#    MiB take :measured:`tripled[copied_on_gpu, 2**25].time`.
#
# .. kernel:: gpuguide.topics.interop.handing_over
#    :names: hand_overs
#    :fold: The calls in this table
#
# .. kernel:: gpuguide.topics.interop.study
#    :names: in_cupy, through_torch, through_jax, copied_on_gpu, through_pinned, through_pageable
#    :fold: What is timed

# draw: Claims
gg.claim(results, "through_torch", faster_than="in_cupy", at=2**25)
gg.claim(results, "in_cupy", faster_than="through_torch", at=2**13, by=1.5)
gg.claim(results, "through_torch", faster_than="copied_on_gpu", at=2**25, by=2)
gg.claim(results, "through_torch", faster_than="through_pinned", at=2**25, by=10)
gg.claim(results, "through_pinned", faster_than="through_pageable", at=2**25, by=3)
gg.claim(waiting, "torch", faster_than="numba", at=2**20, clock="launch", by=3)

# %%
# With streams: hand over inside "with stream:"
# ---------------------------------------------
#
# An address does not say whether the numbers are there yet. As long as nobody makes another :term:`stream`,
# CuPy, Numba and PyTorch all use the default one, everything runs in order, and you can skip this section.
# Here CuPy works in a stream of its own, and does not know what Numba does:

# wrong: CuPy reads while Numba's kernels still run
stream = cp.cuda.Stream(non_blocking=True)
large = cp.ones(2**27, cp.float32)
cp.cuda.Device().synchronize()  # the ones are there
with stream:
    for _ in range(15):
        triple[2**19, 256](large)
    print("all 15 in time:", float(large[-1]) == 3**15)

# %%
# The kernels went into Numba's default stream, and CuPy read before they were done. The cure is to give them
# CuPy's stream:

cp.cuda.Device().synchronize()  # now they are done
numba_stream = cuda.external_stream(stream.ptr)
with stream:
    large[:] = 1
    for _ in range(15):
        triple[2**19, 256, numba_stream](large)
    print("all 15 in time:", float(large[-1]) == 3**15)

# %%
# With PyTorch and JAX, the hand-over keeps the order. In ``from_dlpack`` the reader says which stream it is
# going to use, and CuPy makes that stream wait for its own, while Python goes on. :evidence:`variant torch`
# ``torch.as_tensor`` waits for nobody. :evidence:`count too_early`
#
# .. headline:: After from_dlpack PyTorch waits for CuPy; after as_tensor it does not

# draw
from gpuguide.charts.timeline import plot_timeline

_ = plot_timeline(
    {
        "torch.as_tensor(x)": arrays["timeline_torch_interface"],
        "torch.from_dlpack(x)": arrays["timeline_torch_dlpack"],
    },
    ("CuPy writes", "PyTorch reads"),
)

# %%
# Hand over *after* the writer has launched its work and *inside* its ``with stream:``, and hand back in the
# same way. A tensor that was made once knows nothing of later work.
#
# .. list-table:: Each library uses a stream of its own
#    :header-rows: 1
#
#    * - hand-over
#      - old numbers read, in :measured:`trials` trials
#    * - ``torch.from_dlpack(x)`` inside ``with stream:``
#      - :measured:`early_torch_dlpack`
#    * - the same after ``with stream:``
#      - :measured:`early_torch_outside`
#    * - ``torch.as_tensor(x, device="cuda")``
#      - :measured:`early_torch_interface`
#    * - back: ``cp.from_dlpack(tensor)``
#      - :measured:`early_torch_dlpack_back`
#    * - back: nothing, CuPy reads its own ``x``
#      - :measured:`early_torch_back`
#
# .. dropdown:: The same for Numba and JAX, and what waiting costs
#
#    Numba's view makes Python wait until the stream is done, unless it is made with ``sync=False``.
#    :evidence:`variant numba_at_once` A launch on CuPy's array waits as well, but nobody waits for Numba.
#    The last column is Python's time to launch :measured:`queued_before` of work and to hand the array over
#    behind it; with ``torch.from_dlpack`` it is :measured:`waiting[torch, 2**20].launch`.
#
#    .. list-table::
#       :header-rows: 1
#
#       * - hand-over
#         - old numbers read
#         - Python's time
#       * - ``jnp.from_dlpack(x)``
#         - :measured:`early_jax_dlpack`
#         - :measured:`waiting[jax, 2**20].launch`
#       * - ``cuda.as_cuda_array(x)``
#         - :measured:`early_numba_view`
#         - :measured:`waiting[numba, 2**20].launch`
#       * - ``cuda.as_cuda_array(x, sync=False)``
#         - :measured:`early_numba_at_once`
#         - :measured:`waiting[numba_at_once, 2**20].launch`
#       * - ``kernel[blocks, threads](x)``
#         - :measured:`early_numba_launch`
#         -
#       * - back: nothing, CuPy reads what Numba wrote
#         - :measured:`early_numba_back`
#         -
#
# .. kernel:: gpuguide.topics.interop.handing_over
#    :names: too_early
#    :fold: The trials
#
# .. kernel:: gpuguide.topics.interop.study
#    :names: behind_work, to_torch, to_jax, to_numba, to_numba_without_waiting
#    :fold: The hand-overs behind work

# %%
# What is refused, and the cure
# -----------------------------
#
# A library may not support what is handed to it: a type, a stride, a flag. These are the messages, in the
# libraries' own words. The last one is of JAX's array in a Numba kernel.

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
# What to do instead, in the same order:
#
# - *Two libraries in one expression*: hand one of the arrays over first.
# - *NumPy* cannot read the GPU's memory: copy with ``x.get()``.
# - *A tensor that records its gradient*: hand over ``with_gradient.detach()``.
# - *bfloat16* works, if the package ``ml_dtypes`` is there.
# - *An array with gaps* for JAX: copy it with ``cp.ascontiguousarray(x[::2])``.
# - *int64* for JAX becomes ``int32``, which is a copy. JAX uses 32 bits unless you set ``jax_enable_x64``.
# - *A JAX array for PyTorch* is read-only: use ``torch.from_dlpack(array)``, and do not write to it.
# - *A JAX array for a Numba kernel*: use ``cuda.as_cuda_array(array)``, and do not write to it either.
#
# .. warning::
#
#    PyTorch has no negative strides. ``torch.from_dlpack(x[::-1])`` raises no error: it ends the process.
#    Copy a mirrored array first.

# %%
# .. remember::
#
#    - Hand arrays to PyTorch and JAX with ``from_dlpack``, inside ``with stream:`` and after the last launch.
#      Write to no memory that JAX shares.
#    - Give Numba's launches the stream of CuPy, ``cuda.external_stream(stream.ptr)``, or one may read what
#      the other has not written yet.

# %%
# Your turn: an order by events
# -----------------------------
#
# What DLPack does when it hands an array over, you can do yourself: make one stream wait for another, while
# Python goes on.
#
# .. exercise:: fork_and_join

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import LIBRARY

names = {"copied through the CPU": "through_pageable", "shared": "through_torch"}
times = {label: results.time(name, 2**25) for label, name in names.items()}
_ = thumbnail.bars(times, "time to triple 128 MiB", [LIBRARY, LIBRARY])

# %%
# Next
# ----
#
# Next: the :doc:`exercises </practice/puzzles>`, which need no GPU. See also:
# :doc:`Streams for small tasks </gallery/concurrency/streams>`, on who waits for whom.
