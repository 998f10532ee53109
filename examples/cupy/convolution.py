"""
Convolution: blur in two passes
===============================

How do you blur an image on the GPU, and what do the copies cost?
"""
# %%
# If the weights of a blur can be split into a column and a row, as a Gaussian's can, blur down the columns
# first and then along the rows. With 15 by 15 weights this takes :measured:`image[separable, 2048**2].time`
# for 2048 by 2048 pixels, and one sum of all products takes :measured:`image[ndimage, 2048**2].time`. Copy
# from and to pinned memory: with ordinary arrays a good loop on the CPU is faster.
#
# .. headline:: In CuPy two passes are the fastest; a CUDA kernel of your own beats them
#
# .. drawn:: convolution
#
#     from gpuguide.charts.shapes import plot_values
#     from gpuguide.charts.style import CUPY
#
#     ways = {
#         "convolve2d": "convolve2d",
#         "ndimage.convolve": "ndimage",
#         "fftconvolve": "fft",
#         "two passes": "separable",
#         "both passes in one RawKernel": "fused",
#     }
#     times = {label: results.time(name, 2048**2) for label, name in ways.items()}
#     plot_values(times, "time on the GPU for 2048 by 2048 pixels", colour=CUPY)
#
# .. headline:: All of them give the same picture
#
# .. drawn:: convolution
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#     from gpuguide.charts.style import describe, style
#     from matplotlib.cbook import get_sample_data
#     from scipy.ndimage import convolve1d
#
#     with get_sample_data("grace_hopper.jpg") as file:
#         photo = plt.imread(file, format="jpg")[40:280, 130:370].mean(axis=2)
#     weights = np.exp(-(np.linspace(-2, 2, 15) ** 2))
#     soft = photo
#     for axis in (0, 1):
#         soft = convolve1d(soft, weights / weights.sum(), axis=axis)
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.3))[1]
#         for left, picture in ((0, photo), (1.04, soft)):
#             extent = (left, left + 1, 0, 1)
#             look = {"cmap": "gray", "vmin": 0, "vmax": 255, "interpolation": "none"}
#             ax.imshow(picture, extent=extent, **look)
#         ax.set(xlim=(0, 2.04), ylim=(0, 1), yticks=(), frame_on=False, anchor="W")
#         ax.set_xticks((0.5, 1.54), ("photo", "blurred, 15 by 15"))
#         ax.tick_params(length=0)
#         ax.grid(visible=False)
#         describe(ax, "A portrait photo of Grace Hopper, and beside it the same photo, softly blurred.")

# %%
# SciPy's function for CuPy arrays: convolve2d
# --------------------------------------------
#
# A convolution replaces each pixel by a weighted sum of its neighbours. The table of weights is called the
# *kernel*; it has nothing to do with the :term:`kernels <kernel>` that run on a GPU, and this page calls
# those CUDA kernels. ``cupyx.scipy`` has SciPy's functions for CuPy arrays, with the same names and
# arguments.
#
# The image below is black but for single white pixels, 16 apart, so that you see what the kernel does to each
# of them.

import warnings

import cupy as cp
import numpy as np
import scipy.signal

# The import warns of a part of CuPy that nothing here uses.
warnings.filterwarnings("ignore", "cupyx.jit")
from cupyx.scipy.signal import convolve2d

image_host = np.zeros((512, 512), dtype=np.float32)
image_host[8::16, 8::16] = 1
x = np.linspace(-2, 2, 15, dtype=np.float32)
gauss_host = np.exp(-(x[:, None] ** 2) - x**2)

image, gauss = cp.asarray(image_host), cp.asarray(gauss_host)
blurred = convolve2d(image, gauss, mode="same")
expected = scipy.signal.convolve2d(image_host, gauss_host, mode="same")
print("as in SciPy:", np.allclose(blurred.get(), expected))
print("types:", blurred.dtype, expected.dtype)
print("full:", convolve2d(image, gauss).shape, " same:", blurred.shape)

# %%
# .. try-it::
#
#    Leave out ``dtype=np.float32`` where ``x`` is made, and run the cell again. The kernel is now in double
#    precision, and so are both results: the wider type of the two wins. Before you compare results or times,
#    give both arrays one type, and hand both libraries the same two arrays.

# %%

# record: The studies: three sizes of the image, three of the kernel, every pixel checked; SciPy's direct call
import gpuguide as gg
from gpuguide.topics.convolution import study as convolution
from gpuguide.topics.convolution.kernels import blur_source

convolution.compile_kernels()
results = convolution.image.run()
(seconds,) = convolution.time_scipy()
gg.fact("scipy_direct", seconds, unit="s")
small = convolution.small.run()
large = convolution.large.run()
by_kernel = convolution.by_kernel.run()

for name, error in convolution.rounding_errors().items():
    gg.fact(f"error_{name}", error, unit="1")

_ = gg.keep("delta", image[:48, :48])
_ = gg.keep("gauss", gauss)
_ = gg.keep("blurred", blurred[:48, :48])

# %%

# draw
gg.claim(
    results, "separable", faster_than=("separable_threads", "separable_simd"), at=2048**2
)
gg.claim(results, "separable", faster_than="ndimage", at=2048**2, by=3)
gg.claim(results, "fused", faster_than=("separable", "separable_simd"), at=2048**2, by=2)
gg.claim(results, "with_copies_pinned", faster_than="separable_simd", at=2048**2)
gg.claim(results, "separable_simd", faster_than="with_copies", at=2048**2, by=1.5)
gg.claim(results, "fft", faster_than="fft_threads", at=2048**2, by=10)
gg.claim(results, "ndimage", faster_than="direct_threads", at=2048**2)
gg.claim(results, "correlate2d", faster_than="convolve2d", at=2048**2, by=2)
gg.claim(by_kernel, "ndimage", faster_than=("fft", "separable"), at=3**2, by=1.1)
gg.claim(by_kernel, "separable", faster_than=("fft", "ndimage"), at=15**2, by=1.5)
gg.claim(by_kernel, "separable", faster_than="ndimage", at=63**2, by=5)
gg.claim(by_kernel, "fft", faster_than="separable", at=63**2, by=1.1)

for name in ("dark_fft", "fft", "ndimage"):
    parts = 1 / facts[f"error_{name}"].value
    gg.fact(f"parts_{name}", int(float(f"{parts:.1e}")), unit="1")  # two digits will do

# %%
# .. headline:: Each white pixel becomes a copy of the kernel

# draw: The three pictures
import matplotlib.pyplot as plt
from gpuguide.charts.style import describe, style

with style():
    ax = plt.subplots(figsize=(7.2, 2.6))[1]
    for left, name in ((0, "delta"), (1.1, "gauss"), (2.2, "blurred")):
        ax.imshow(
            arrays[name], cmap="gray", vmin=0, vmax=1, extent=(left, left + 1, 0, 1)
        )
    ax.set(xlim=(0, 3.2), yticks=(), frame_on=False)
    ax.set_xticks((0.5, 1.6, 2.7), ("image", "kernel", "result"))
    ax.tick_params(length=0)
    ax.grid(visible=False)
    describe(
        ax,
        "Three pictures in grey. Left, a corner of the image, 48 by 48 pixels: nine are white, 16 apart. "
        f"Middle, the kernel, 15 by 15: a round spot, {arrays['gauss'].max():.0f} in its middle and "
        f"{arrays['gauss'][0, 7]:.2f} at the middle of an edge. Right, the same corner of the result: nine "
        "spots.",
    )

# %%
# **The border.** ``mode="full"``, which is the default, has a pixel for every place where the kernel touches
# the image, so the result is 14 pixels wider and higher. ``mode="same"`` keeps the middle of it. What lies
# outside counts as zero in both, so the border of the result is too dark.
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: convolve2d, convolve2d_full
#    :fold: The two calls as they were timed

# %%
# The direct sum: take ndimage
# ----------------------------
#
# Call ``ndimage.convolve`` instead of ``convolve2d``. It makes the same products, for any number of axes, and
# always keeps the size. At its border it reflects the image, unless you pass ``mode="constant"``.

from cupyx.scipy import ndimage

again = ndimage.convolve(image, gauss, mode="constant")
print("the same:", bool(cp.allclose(again, blurred)))

# %%
# It takes :measured:`image[ndimage, 2048**2].time`, where ``convolve2d`` takes
# :measured:`image[convolve2d, 2048**2].time`.
#
# .. dropdown:: Why convolve2d takes longer
#
#     A convolution goes through the kernel backwards. ``convolve2d`` reads it through a view with negative
#     steps, while ``ndimage`` first makes a copy in the new order. If you make such a copy yourself, and give
#     it to ``correlate2d``, which goes forwards, the same sum takes
#     :measured:`image[correlate2d, 2048**2].time`. So it is the view that costs the time.
#     :evidence:`variant correlate2d`
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: correlate2d
#    :fold: correlate2d with a turned kernel

# %%
# The FFT: for large kernels that cannot be split
# -----------------------------------------------
#
# After a Fourier transform of image and kernel, the convolution is one product for each frequency. The result
# is transformed back.

from cupyx.scipy.signal import fftconvolve

by_fft = fftconvolve(image, gauss, mode="same")
print("close:", bool(cp.allclose(by_fft, blurred, atol=1e-5)))

# %%
# The FFT takes about the same time with every kernel, :measured:`by_kernel[fft, 63**2].time` with one of 63
# by 63. A small image does not help, for Python needs :measured:`image[fft, 2048**2].launch` to launch the
# many steps.
#
# .. dropdown:: How exact the FFT is
#
#     The cell allows a small difference, and has to. We also blurred an image that is black in its right
#     half. There the direct sum is exactly zero, and the FFT is off by up to one part in
#     :measured:`parts_dark_fft` of the brightest pixel. For a picture that is nothing. Where a small number
#     stands beside a large one and matters, take the direct sum. Elsewhere the FFT is the closer one: its
#     largest error is one part in :measured:`parts_fft`, and that of the direct sum one in
#     :measured:`parts_ndimage`.
#
#     An image of 256 by 256 is :measured:`small[fft, 256**2].time` of work for the GPU, and
#     :measured:`small[fft, 256**2].launch` for Python.

# %%
# Two passes: for kernels that can be split
# -----------------------------------------
#
# A Gaussian is the product of a column and a row. Blur down the columns first, and then along the rows: that
# takes 30 products for each pixel instead of 225. For a plain Gaussian blur, call
# ``ndimage.gaussian_filter``, which does this by itself.

column = row = cp.exp(-(cp.asarray(x) ** 2))
down = ndimage.convolve1d(image, column, axis=0, mode="constant")
twice = ndimage.convolve1d(down, row, axis=1, mode="constant")
print("the same:", bool(cp.allclose(twice, blurred)))

# %%
# This is :measured:`image[separable, 2048**2].speedup(ndimage)` as fast as the direct sum, and with a kernel
# of 63 by 63 it is :measured:`by_kernel[separable, 63**2].speedup(ndimage)` as fast. Boxes and Sobel's filter
# for edges can be split as well.

# %%
# If you blur all day: one CUDA kernel for both passes
# ----------------------------------------------------
#
# Between CuPy's two passes a whole image is written and read again, which a CUDA kernel of your own can
# avoid. In the one below, each thread goes down a column of pixels, and adds each pixel to the sums of 16
# rows, which it keeps in registers. The threads of a block then put these sums into :term:`shared memory`,
# wait for one another, and go along the rows. A block also needs the 7 columns on either side, so that blocks
# overlap.
#
# .. kernel:: gpuguide.topics.convolution.kernels
#    :names: blur_source
#    :fold: The kernel: blur_source
#
# The number of weights is known when the kernel is compiled, so the compiler unrolls the loops over them.

options = "-DK=15", "-DROWS=16", "-DTHREADS=128"
blur = cp.RawKernel(blur_source, "blur", options)

in_one = cp.empty_like(image)
height, width = image.shape
blocks = -(-width // (128 - 15 + 1)), -(-height // 16)
blur(blocks, (128,), (image, column, row, in_one, np.int32(height), np.int32(width)))
print("the same:", bool(cp.allclose(in_one, blurred)))

# %%
# It takes :measured:`image[fused, 2048**2].time`, and is
# :measured:`image[fused, 2048**2].speedup(separable)` as fast as the two passes in CuPy.
#
# .. dropdown:: How much is left to gain
#
#     Two things limit a convolution: its products, and the bytes that it reads and writes. An image of 2048
#     by 2048 and its result fit into the :term:`L2 cache`, so for the bytes we also took one of 6000 by 6000.
#
#     .. list-table:: Shares of what this GPU can do at most
#        :header-rows: 1
#
#        * - way
#          - arithmetic, at 2048 by 2048
#          - memory, at 6000 by 6000
#        * - ``convolve2d``
#          - :measured:`image[convolve2d, 2048**2].flop_share`
#          -
#        * - ``ndimage``
#          - :measured:`image[ndimage, 2048**2].flop_share`
#          -
#        * - FFT
#          -
#          - :measured:`large[fft, 6000**2].share`
#        * - two passes of ``ndimage``
#          - :measured:`image[separable, 2048**2].flop_share`
#          - :measured:`large[separable, 6000**2].share`
#        * - one kernel
#          - :measured:`image[fused, 2048**2].flop_share`
#          - :measured:`large[fused, 6000**2].share`
#
#     Of the FFT just image and result are counted, although its steps move more. For 6000 by 6000 pixels two
#     passes take :measured:`large[separable, 6000**2].time`, and one kernel takes
#     :measured:`large[fused, 6000**2].time`. Two passes move the image four times, and one kernel moves it
#     twice, which explains only a part of that. We think that the rest comes from the unrolled loops, with
#     their sums in registers. :evidence:`opinion` What is left to gain is the half of the memory's speed that
#     one kernel leaves unused.
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: fused, blur_kernel
#    :fold: The launch as it was timed

# %%
# From the host and back: pin both arrays
# ---------------------------------------
#
# If the image comes from the host and the result must go back, two copies are added, 16 MiB each for 2048 by
# 2048 pixels. Reserve :term:`pinned memory` for both, once, and the GPU copies from and to it by itself:

import cupyx

image_pinned = cupyx.empty_pinned(image_host.shape, np.float32)  # once, for many images
out_pinned = cupyx.empty_pinned(image_host.shape, np.float32)
image_pinned[:] = image_host

image.set(image_pinned)
down = ndimage.convolve1d(image, column, axis=0, mode="constant")
ndimage.convolve1d(down, row, axis=1, mode="constant").get(out=out_pinned)
print("the same:", np.allclose(out_pinned, expected))

# %%
# Copies included, the two passes take :measured:`image[with_copies_pinned, 2048**2].time`. From and to
# NumPy's ordinary, :term:`pageable <pageable memory>` memory they take
# :measured:`image[with_copies, 2048**2].time`, while a good compiled loop on 16 virtual CPUs takes
# :measured:`image[separable_simd, 2048**2].time`. A small image is not worth the trip, for each launch and
# each copy has a fixed cost.
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: with_copies
#    :fold: With pageable copies

# %%
# Which way for which kernel
# --------------------------
#
# With CuPy, call ``ndimage.convolve`` for the smallest kernels, such as 3 by 3, and make two passes with a
# larger one that can be split. If it cannot be split, ``fftconvolve`` is faster from about 15 by 15 on.
#
# .. headline:: The direct sum grows with every weight, the FFT does not

# draw
ax = gg.plot_time(by_kernel)
ax.set(xlabel="kernel, for an image of 2048 by 2048", ylabel="time on the GPU, no copies")
_ = ax.xaxis.set_major_formatter(lambda n, _: f"{n**0.5:.0f}×{n**0.5:.0f}")

# %%
# With a kernel of 63 by 63 the FFT is a little less work for the GPU than two passes, but more launches for
# Python. Take it there for large images only.
#
# .. dropdown:: All ways on the GPU and on the CPU
#
#     .. list-table:: An image of 2048 by 2048 in single precision, a kernel of 15 by 15
#        :header-rows: 1
#
#        * - way
#          - CPU, one thread
#          - 16 virtual CPUs
#          - GPU, without copies
#        * - ``convolve2d``
#          - :measured:`scipy_direct`
#          -
#          - :measured:`image[convolve2d, 2048**2].time`
#        * - ``ndimage``
#          -
#          - :measured:`image[direct_threads, 2048**2].time`
#          - :measured:`image[ndimage, 2048**2].time`
#        * - ``conv2d`` of PyTorch
#          -
#          - :measured:`image[direct_torch, 2048**2].time`
#          -
#        * - FFT
#          - :measured:`image[fft_scipy, 2048**2].time`
#          - :measured:`image[fft_threads, 2048**2].time`
#          - :measured:`image[fft, 2048**2].time`
#        * - two passes of ``ndimage``
#          -
#          - :measured:`image[separable_threads, 2048**2].time`
#          - :measured:`image[separable, 2048**2].time`
#        * - two passes of ``conv2d``
#          -
#          - :measured:`image[separable_torch, 2048**2].time`
#          -
#        * - two passes, our own code
#          -
#          - :measured:`image[separable_simd, 2048**2].time`
#          - :measured:`image[fused, 2048**2].time`
#
#     Compare GPU and CPU by one method, and with the best rival. ``scipy.ndimage`` computes in double
#     precision, one number at a time. We wrote a loop that goes along lines of ``float32``. Neighbouring
#     pixels do not depend on one another, so Numba's compiler takes several at once by :term:`SIMD`, and
#     needs no ``fastmath``. For a kernel that cannot be split, the FFT overtakes the direct sum
#     :measured:`by_kernel.crossover(ndimage, fft)`; a kernel of 15 by 15 has 225.
#
# .. kernel:: gpuguide.topics.convolution.kernels
#    :names: add_scaled, separable_simd
#    :fold: Two passes with SIMD
#
# .. kernel:: gpuguide.topics.convolution.cpu
#    :names: direct_threads, fft_threads, separable_threads, in_strips, conv2d
#    :fold: SciPy and PyTorch on all threads

# %%
# .. remember::
#
#    - Split a blur into two passes, ``ndimage.convolve1d`` along each axis: with 15 by 15 weights this is
#      :measured:`image[separable, 2048**2].speedup(ndimage)` as fast as the direct sum.
#    - For weights that cannot be split, call ``ndimage.convolve`` if they are few, and ``fftconvolve`` from
#      about 15 by 15 on.

# %%
# Your turn: compare fairly
# -------------------------
#
# Is it worth blurring one image on the GPU? Write the comparison that answers it, copies included. The check
# brings virtual machines, whose true times it knows.
#
# .. exercise:: fair_comparison

# thumbnail
from gpuguide.charts import thumbnail
from matplotlib.cbook import get_sample_data
from scipy.ndimage import convolve1d

with get_sample_data("grace_hopper.jpg") as file:
    photo = plt.imread(file, format="jpg")[60:300, 90:432].mean(axis=2)
soft = photo
for axis in (0, 1):
    weights = np.exp(-(np.linspace(-2, 2, 15) ** 2))
    soft = convolve1d(soft, weights / weights.sum(), axis=axis)
photo[:, 171:] = soft[:, 171:]
photo = photo // 8 * 8  # fewer shades are fewer bytes
_ = thumbnail.picture(photo, "a photo whose right half is blurred", cmap="gray")

# %%
# Next
# ----
#
# Next: :doc:`Random numbers: take default_rng </gallery/cupy/random_numbers>` makes the data on the GPU
# itself. See also: :doc:`Fast copies with pinned memory </gallery/moving_data/transfers>` explains what
# copies cost.
#
# The photo shows Grace Hopper. It was taken for the U.S. Navy, is in the public domain, and comes with
# `Matplotlib <https://matplotlib.org>`__.
