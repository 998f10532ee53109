"""
One function for CPU and GPU
============================

How do you write a function that runs with and without a GPU?
"""
# %%
# Ask the array for its library, ``xp = array_namespace(x)``, and call everything through ``xp``. The function
# then runs where its data are, as fast as code for CuPy alone: four million pixels take
# :measured:`contrast[cupy, 2048**2].time` on the GPU, and
# :measured:`contrast[numpy_threads, 2048**2].time` in NumPy on all threads.
#
# .. headline:: From 256 by 256 pixels on, the same function is faster on the GPU
#
# .. drawn:: agnostic
#
#     ax = gg.plot_time(results, variants=["numpy_threads", "cupy", "with_copies_pinned"])
#     ax.set(xlabel="pixels of the image", ylabel="time")
#     ax.xaxis.set_major_formatter(lambda n, _: f"{n**0.5:.0f}²")
#     ax.figure.set_size_inches(7.2, 3.2)

# %%
# An image pipeline with ``array_namespace``
# ------------------------------------------
#
# The function below turns a colour photo to grey and blurs it by adding up shifted copies. Its result says
# how far each pixel differs from its surroundings. By custom, the library is called ``xp``, which stands for
# ``np`` or ``cp``.

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
#    Print ``xp.__name__`` in the function. It is a wrapper around ``numpy`` or ``cupy``. Then divide by
#    ``around`` instead of ``around + 1``. Random colours hide what is wrong with that; a black photo,
#    ``np.zeros_like(photo)``, shows it in both libraries.
#
# .. headline:: Details in the dark show as well as those in the light

# draw
import matplotlib.pyplot as plt
from gpuguide.charts.style import describe, style
from gpuguide.topics.agnostic.functions import local_contrast

down, right = np.mgrid[0:124, 0:244]
rings = 1 + 0.2 * np.sin(np.hypot(down - 62, right - 122) / 1.5)
lit = 200 * rings * np.exp(-right / 60)  # bright on the left, dark on the right
scene = np.repeat(lit.astype(np.uint8)[..., None], 3, axis=2)
inside = np.s_[2:-2, 2:-2]  # at the edge, the surroundings are those of the other side
shown = [lit[inside] / 240, 0.5 + 2 * local_contrast(scene)[inside]]
gap = np.full((120, 6), np.nan)
with style():
    ax = plt.subplots(figsize=(7.2, 2.2))[1]
    ax.imshow(np.hstack([shown[0], gap, shown[1]]), cmap="gray", vmin=0, vmax=1)
    ax.text(0, -6, "the photo", fontsize=11)
    ax.text(246, -6, "its local contrast", fontsize=11)
    ax.axis("off")
    words = "Rings in a photo that is bright on the left and black on the right."
    describe(ax, f"{words} In its local contrast, beside it, they show everywhere.")

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
# For a script that may be enough: NumPy's functions hand a CuPy array over to CuPy, as
# :doc:`Run NumPy code on the GPU </gallery/cupy/numpy_to_cupy>` shows. But ``np.zeros(5)`` still makes an
# array on the CPU, and other libraries, such as PyTorch, do not take part.
#
# Several libraries therefore agreed on a list of functions, their arguments and their results: the
# `array API standard <https://data-apis.org/array-api/latest/>`__. The small package
# `array-api-compat <https://data-apis.org/array-api-compat/>`__ adds what a library still lacks. SciPy and
# scikit-learn use it, too.

names = ("astype", "concat", "cumulative_sum", "isdtype", "matrix_transpose")
names += ("permute_dims", "unique_counts", "unstack", "vecdot")
xp = array_namespace(on_gpu)
print("CuPy lacks:            ", [name for name in names if not hasattr(cp, name)])
print("array-api-compat lacks:", [name for name in names if not hasattr(xp, name)])

# %%
# Call functions, not methods
# ---------------------------
#
# Write ``xp.mean(x)`` for ``x.mean()``, and ``xp.astype(x, ...)`` for ``x.astype(...)``: arrays in the
# standard have hardly any methods. Some arguments have other names, such as ``correction`` for what NumPy and
# CuPy call ``ddof``. And all arrays of a call must be of one library:

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
# Look for a function in the standard before you use it, for the wrapper does not warn you: ``xp.pad``,
# ``xp.percentile``, ``xp.histogram`` and ``xp.einsum`` are not in the standard, and work all the same. Code
# that calls them runs with NumPy and CuPy only.

# %%
# Make new arrays where the data are
# ----------------------------------
#
# ``xp.zeros_like(x)``, ``xp.empty_like(x)`` and the like make an array beside ``x``. For another shape, pass
# the ``device``:

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
# What it costs: nothing that you would notice
# --------------------------------------------
#
# The GPU does the same steps as in code for CuPy alone, and takes equally long.
#
# Leave small photos on the CPU. One of 32 by 32 pixels takes NumPy :measured:`contrast[numpy, 32**2].time`,
# but the GPU as long as a large one; we think that Python's calls take that long at any size.
# :evidence:`opinion` Copy large photos from and to :term:`pinned memory`. Copies included, 2048 by 2048
# pixels then take :measured:`contrast[with_copies_pinned, 2048**2].time`.
#
# To do all steps in one pass you would write a :term:`kernel` of your own, for the GPU alone:
# :doc:`When a GPU pays </gallery/start/why_gpu>` compares these ways.
#
# .. dropdown:: Code for CuPy alone, the rivals, and copies from ordinary memory
#
#    .. list-table:: The wrapper beside code for CuPy alone
#       :header-rows: 1
#
#       * - CuPy function
#         - 32 by 32 pixels
#         - 2048 by 2048 pixels
#       * - through ``array_namespace``
#         - :measured:`contrast[cupy, 32**2].time`
#         - :measured:`contrast[cupy, 2048**2].time`
#       * - written for CuPy alone
#         - :measured:`contrast[cupy_by_hand, 32**2].time`
#         - :measured:`contrast[cupy_by_hand, 2048**2].time`
#
#    For "NumPy, all threads" each thread calls the same function for a strip of the photo; a small photo is
#    left to one thread, which takes :measured:`contrast[numpy, 2048**2].time` for the large one. Copied from
#    and to :term:`pageable memory`, it takes CuPy :measured:`contrast[with_copies, 2048**2].time`.
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
# Give such a function NumPy arrays, and you can test it on a laptop without a GPU. One test remains for the
# GPU: that both results agree, as at the top of this page. Compare with a tolerance, not for equality, for
# the libraries may add in another order.

# %%
# .. remember::
#
#    - Begin a function that is to run on CPU and GPU with ``xp = array_namespace(x)``, and call
#      ``xp.mean(x)`` instead of ``x.mean()``: four million pixels then take
#      :measured:`contrast[cupy, 2048**2].time` on the GPU and
#      :measured:`contrast[numpy_threads, 2048**2].time` on the CPU.
#    - Make new arrays with ``xp.zeros_like(x)`` or ``device=device(x)``, so that they lie where ``x`` lies.

# %%
# Your turn: a library that you do not know
# -----------------------------------------
#
# Code that was only tried on NumPy and CuPy may know more than the standard promises. In this exercise the
# arrays are of a library that has the standard's functions and nothing else.
#
# .. exercise:: any_library

# thumbnail
from gpuguide.charts import thumbnail

names = {"NumPy, all threads": "numpy_threads", "CuPy, same function": "cupy"}
times = {label: results.time(name, 2048**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time for 4 million pixels")

# %%
# Next
# ----
#
# Next: :doc:`Fast copies with pinned memory </gallery/moving_data/transfers>`, on what the copies cost. See
# also: :doc:`Convolution: blur in two passes </gallery/cupy/convolution>`, on better ways to blur than adding
# up shifted copies.
