"""
Code for both libraries
=======================

How do you write one function for NumPy and CuPy, and what does that cost?
"""
# %%
# Ask the array for its library: ``xp = array_namespace(x)``. Written once, an image pipeline takes NumPy
# :measured:`contrast[numpy, 2048**2].time` on one thread for four million pixels,
# :measured:`contrast[numpy_threads, 2048**2].time` on 16 virtual CPUs, and CuPy
# :measured:`contrast[cupy, 2048**2].time` with the photo on the GPU. Written for CuPy alone, it takes as
# long.

# %%
# One image pipeline with ``array_namespace``
# -------------------------------------------
#
# A photo in colour becomes grey, and is blurred by adding up shifted copies. The result says how far each
# pixel differs from its surroundings, so that details in the dark show as well as those in the light.

import cupy as cp
import numpy as np
from array_api_compat import array_namespace


def local_contrast(photo):
    xp = array_namespace(photo)
    grey = xp.mean(xp.astype(photo, xp.float32), axis=2)
    around = grey
    for axis in (0, 1):
        shifted = [xp.roll(around, shift, axis=axis) for shift in (-2, -1, 0, 1, 2)]
        around = (
            shifted[0] + 4 * shifted[1] + 6 * shifted[2] + 4 * shifted[3] + shifted[4]
        ) / 16
    return xp.tanh((grey - around) / (around + 1))


photo = np.random.default_rng(0).integers(0, 256, (480, 640, 3), dtype=np.uint8)
on_host = local_contrast(photo)
on_gpu = local_contrast(cp.asarray(photo))
print(type(on_host), on_host.dtype, on_host.shape)
print(type(on_gpu), on_gpu.dtype, on_gpu.shape)
print("the same:", np.allclose(on_host, on_gpu.get(), atol=1e-5))

# %%
# .. try-it::
#
#    Print ``xp.__name__`` in the function. It is not ``numpy`` or ``cupy``, but a wrapper around it. Then
#    divide by ``around`` instead of ``around + 1``. Random colours hide what is wrong with that; a black
#    photo, ``np.zeros_like(photo)``, shows it in both libraries.
#
# The name ``xp`` is a custom: it stands for ``np`` or ``cp``. The function uses neither by name.

# %%

# record: The study: six variants, six sizes, every result checked
import gpuguide as gg
from gpuguide.topics.agnostic import study as agnostic

free, total = cp.cuda.Device().mem_info
print(f"{free / 1e9:.0f} GB of the GPU's {total / 1e9:.0f} GB are free.")
results = agnostic.contrast.run()

# %%
# Why not simply call NumPy?
# --------------------------
#
# NumPy's functions hand CuPy's arrays over to CuPy, as
# :doc:`NumPy to CuPy </gallery/cupy/numpy_to_cupy>` shows. That is the shortest way, as long as an array is
# there to decide. But ``np.zeros(5)`` and ``np.arange(5)`` make arrays on the host, and other libraries, such
# as PyTorch, do not take part.
#
# So several libraries agreed on a list of functions, their arguments and their results: the
# `array API standard <https://data-apis.org/array-api/latest/>`__. A library may still lack a few of them, or
# give an argument another name. The package `array-api-compat <https://data-apis.org/array-api-compat/>`__
# fills these gaps; it is small, and needs no other package. SciPy and scikit-learn use it, too.

names = ("astype", "concat", "cumulative_sum", "isdtype", "matrix_transpose")
names += ("permute_dims", "unique_counts", "unstack", "vecdot")
xp = array_namespace(on_gpu)
print("CuPy lacks:            ", [name for name in names if not hasattr(cp, name)])
print("array-api-compat lacks:", [name for name in names if not hasattr(xp, name)])

# %%
# Functions, not methods; the standard's names
# --------------------------------------------
#
# In the standard, arrays have operators, indices, a shape and a dtype, and hardly a method. Write
# ``xp.mean(x)`` for ``x.mean()``, and ``xp.astype(x, ...)`` for ``x.astype(...)``. Some arguments have other
# names: ``correction``, where NumPy and CuPy say ``ddof``. And all arrays of a call must be of one library:

for code in (
    "xp.std(on_gpu, correction=1)",
    "xp.std(on_gpu, ddof=1)",
    "array_namespace(on_gpu, photo)",
    "array_namespace([1, 2, 3])",
):
    try:
        print(f"{code}\n    {eval(code)}")
    except TypeError as error:
        message = str(error).partition(":")[0]  # the rest names files
        print(f"{code}\n    TypeError: {message}")

# %%
# The wrapper hides none of the library's other functions: ``xp.pad`` works for NumPy and for CuPy, although
# the standard does not have it. Nor does it have ``percentile``, ``histogram`` or ``einsum``. So look for a
# function in the standard before you use it, or your code will run with these two libraries only.

# %%
# New arrays belong beside the data
# ---------------------------------
#
# An array that a function makes must lie where its data lie. ``zeros_like`` and its kin see to that. If the
# shape is another one, pass the ``device``:

from array_api_compat import device


def with_frame(grey, width):
    xp = array_namespace(grey)
    rows, columns = grey.shape
    shape = (rows + 2 * width, columns + 2 * width)
    out = xp.zeros(shape, dtype=grey.dtype, device=device(grey))
    out[width : width + rows, width : width + columns] = grey
    return out


for grey in (on_host, on_gpu):
    print(type(with_frame(grey, 8)), with_frame(grey, 8).shape)

# %%
# PyTorch and JAX need the argument. For CuPy it is accepted and ignored: if there are several GPUs, the array
# is made on the current one, so work inside ``with grey.device:``. Writing into an array, as ``with_frame``
# does, is possible in NumPy, CuPy and PyTorch, but not in JAX.

# %%
# Result: the same code, on the CPU and on the GPU
# ------------------------------------------------

# draw
_ = gg.plot_time(
    results,
    variants=["numpy", "numpy_threads", "cupy", "with_copies_pinned"],
    crossover=("numpy", "cupy"),
)

# %%
# .. finding::
#
#    On the GPU the pipeline overtakes NumPy on one thread
#    :measured:`contrast.crossover(numpy, cupy)`, and at 2048 times 2048 pixels it is
#    :measured:`contrast[cupy, 2048**2].speedup(numpy)` as fast, and
#    :measured:`contrast[cupy, 2048**2].speedup(numpy_threads)` as fast as NumPy on all threads.
#
# For "NumPy, all threads" each thread calls the same function for a strip of the photo; a small photo is left
# to one thread.
#
# The line "CuPy, pinned copies" includes the copies of the photo to the GPU and of the result back, in
# :term:`pinned memory`: :measured:`contrast[with_copies_pinned, 2048**2].time`. In ordinary, :term:`pageable
# memory` it is :measured:`contrast[with_copies, 2048**2].time`. A photo of 32 times 32 pixels should stay on
# the CPU: NumPy takes :measured:`contrast[numpy, 32**2].time`, CuPy :measured:`contrast[cupy, 32**2].time`.
#
# What does it cost to ask for ``xp``? Compare with the same steps written for CuPy alone, by hand:
#
# .. list-table::
#    :header-rows: 1
#
#    * - CuPy function
#      - 32 times 32 pixels
#      - 2048 times 2048 pixels
#    * - through ``array_namespace``
#      - :measured:`contrast[cupy, 32**2].time`
#      - :measured:`contrast[cupy, 2048**2].time`
#    * - by hand
#      - :measured:`contrast[cupy_by_hand, 32**2].time`
#      - :measured:`contrast[cupy_by_hand, 2048**2].time`
#    * - speed-up by hand
#      - :measured:`contrast[cupy_by_hand, 32**2].speedup(cupy)`
#      - :measured:`contrast[cupy_by_hand, 2048**2].speedup(cupy)`
#
# The steps on the GPU are the same, so only the time in Python can differ, and it hardly does. The small
# photo takes about as long as the large one. We think that Python's calls take that long at any size, and
# longer on a busy host. :evidence:`opinion`
#
# To do all steps at once you would write a :term:`kernel` of your own, for the GPU alone: :doc:`Why a GPU
# </gallery/start/why_gpu>` compares these ways.
#
# .. kernel:: gpuguide.topics.agnostic.study
#    :names: numpy_threads, cupy, cupy_by_hand, with_copies_pinned
#    :fold: What is timed: strips on all threads, CuPy by hand, copies

# draw: Three claims
gg.claim(results, "cupy", faster_than=("numpy", "numpy_threads"), at=2048**2, by=2)
gg.claim(results, "with_copies_pinned", faster_than="numpy", at=2048**2, by=2)
gg.claim(results, "numpy", faster_than="cupy", at=32**2, by=1.5)

# %%
# Test on the CPU, run on the GPU
# -------------------------------
#
# A function for both libraries can be tested on a laptop without a GPU: give it NumPy's arrays. On the GPU
# one test remains, that both results agree, as at the top of this page. Compare with a tolerance, not for
# equality: the libraries may add in another order.

# %%
# Your turn: a library that you do not know
# -----------------------------------------
#
# Code that was only tried on NumPy and CuPy may know more than the standard promises. In this exercise the
# arrays are of a library that has the standard's functions and nothing else.
#
# .. exercise:: any_library

# %%
# Next
# ----
#
# Onward: :doc:`Transfers </gallery/moving_data/transfers>`, on what the copies cost. Sideways:
# :doc:`Convolution </gallery/cupy/convolution>`, on better ways to blur than adding up shifted copies.
