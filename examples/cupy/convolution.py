"""
Convolution
===========

Which of five ways to blur an image on the GPU is the fastest, and what do the copies cost?
"""
# %%
# If the kernel can be split, blur in two passes along the axes: with a Gaussian of 15 by 15 pixels and an
# image of 2048 by 2048 that takes CuPy :measured:`image[separable, 2048**2].time`, and a kernel of your own
# that makes both passes :measured:`image[fused, 2048**2].time`. If the image comes from the host and must go
# back, the copies decide: CuPy's two passes take :measured:`image[with_copies_pinned, 2048**2].time` with
# pinned ones, but :measured:`image[with_copies, 2048**2].time` with pageable ones, and a good loop on 16
# virtual CPUs takes :measured:`image[separable_simd, 2048**2].time` without any.
#
# .. list-table:: An image of 2048 by 2048 in single precision, a kernel of 15 by 15
#    :header-rows: 1
#
#    * - way
#      - CPU, one thread
#      - 16 virtual CPUs
#      - GPU, without copies
#    * - ``convolve2d``
#      - :measured:`scipy_direct`
#      -
#      - :measured:`image[convolve2d, 2048**2].time`
#    * - ``ndimage``
#      -
#      - :measured:`image[direct_threads, 2048**2].time`
#      - :measured:`image[ndimage, 2048**2].time`
#    * - ``conv2d`` of PyTorch
#      -
#      - :measured:`image[direct_torch, 2048**2].time`
#      -
#    * - FFT
#      - :measured:`image[fft_scipy, 2048**2].time`
#      - :measured:`image[fft_threads, 2048**2].time`
#      - :measured:`image[fft, 2048**2].time`
#    * - two passes of ``ndimage``
#      -
#      - :measured:`image[separable_threads, 2048**2].time`
#      - :measured:`image[separable, 2048**2].time`
#    * - two passes of ``conv2d``
#      -
#      - :measured:`image[separable_torch, 2048**2].time`
#      -
#    * - two passes, our own code
#      -
#      - :measured:`image[separable_simd, 2048**2].time`
#      - :measured:`image[fused, 2048**2].time`

# %%
# convolve2d on the GPU: SciPy's function under CuPy's name
# ---------------------------------------------------------
#
# A convolution replaces each pixel by a weighted sum of its neighbours. The table of weights is called the
# *kernel*; it has nothing to do with the :term:`kernels <kernel>` that run on a GPU. ``cupyx.scipy`` has
# SciPy's functions for CuPy's arrays, with the same names and arguments.
#
# The image below is black but for single white pixels, 16 apart. It shows what the kernel does to each of
# them.

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
#    precision, and so are both results: the wider type of the two wins. So before you compare results or
#    times, give both arrays one type, and hand both libraries the same two arrays.

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
gg.claim(results, "fused", faster_than=("separable", "separable_simd"), at=2048**2, by=2)
gg.claim(results, "with_copies_pinned", faster_than="separable_simd", at=2048**2)
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
# .. finding::
#
#    Each white pixel becomes a copy of the kernel. For that the direct sum multiplies every pixel by every
#    weight: :measured:`image[convolve2d, 2048**2].work(multiply_adds)` for 2048 by 2048 pixels.

# %%
# Full and same: what happens at the border
# -----------------------------------------
#
# A kernel whose middle lies outside of the image may still reach into it. ``mode="full"``, which is the
# default, has a pixel for every such place, so the result is 14 pixels wider and higher than the image.
# ``mode="same"`` keeps the middle of it. What lies outside counts as zero in both, so the border of the
# result is too dark. ``cupyx.scipy.ndimage.convolve`` always keeps the size; it reflects the image at its
# border unless you say ``mode="constant"``.
#
# The time hardly differs: the full result takes :measured:`image[convolve2d_full, 2048**2].time`, one of the
# image's size :measured:`image[convolve2d, 2048**2].time`.
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: convolve2d, convolve2d_full
#    :fold: The two calls as they were timed

# %%
# Direct convolution: one sum, two functions
# ------------------------------------------
#
# ``ndimage`` has a function for images with any number of axes. On the GPU it makes the same products.
#
# .. rung:: ndimage

from cupyx.scipy import ndimage

again = ndimage.convolve(image, gauss, mode="constant")
print("the same:", bool(cp.allclose(again, blurred)))

# %%
# ``convolve2d`` takes :measured:`image[convolve2d, 2048**2].time` for them, ``ndimage``
# :measured:`image[ndimage, 2048**2].time`. Why? A convolution goes through the kernel backwards.
# ``convolve2d`` reads it through a view with negative steps, while ``ndimage`` first makes a copy in the new
# order. If you make such a copy yourself, and give it to ``correlate2d``, which goes forwards, the same sum
# takes :measured:`image[correlate2d, 2048**2].time`. So it is the view that costs the time.
# :evidence:`variant correlate2d`
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: correlate2d
#    :fold: correlate2d with a turned kernel

# %%
# FFT convolution: a price that hardly depends on the kernel
# ----------------------------------------------------------
#
# After a Fourier transform of image and kernel, the convolution is one product for each frequency. The result
# is transformed back.
#
# .. rung:: fft

from cupyx.scipy.signal import fftconvolve

by_fft = fftconvolve(image, gauss, mode="same")
print("close:", bool(cp.allclose(by_fft, blurred, atol=1e-5)))

# %%
# It hardly matters how large the kernel is: the image of 2048 by 2048 takes
# :measured:`by_kernel[fft, 3**2].time` with a kernel of 3 by 3, and :measured:`by_kernel[fft, 63**2].time`
# with one of 63 by 63. But a call consists of many steps, and Python takes
# :measured:`image[fft, 2048**2].launch` to hand them over, longer than the GPU takes for them. So a smaller
# image is hardly faster: at 256 by 256 the GPU has :measured:`small[fft, 256**2].time` of work, and Python
# :measured:`small[fft, 256**2].launch`.
#
# The cell allows a small difference, and has to. We also blurred an image that is black in its right half.
# There the direct sum is exactly zero, and the FFT is off by up to one part in :measured:`parts_dark_fft` of
# the brightest pixel. For a picture that is nothing. Where a small number stands beside a large one and
# matters, take the direct sum. Elsewhere the FFT is the closer one: its largest error is one part in
# :measured:`parts_fft`, and that of the direct sum one in :measured:`parts_ndimage`.

# %%
# Separable kernels: two passes of 15 products
# --------------------------------------------
#
# A Gaussian is the product of a column and a row. So blur along the columns first, and then along the rows.
# That takes 30 products for each pixel instead of 225.
#
# .. rung:: separable

column = row = cp.exp(-(cp.asarray(x) ** 2))
down = ndimage.convolve1d(image, column, axis=0, mode="constant")
twice = ndimage.convolve1d(down, row, axis=1, mode="constant")
print("the same:", bool(cp.allclose(twice, blurred)))

# %%
# For this kernel the direct sum has :measured:`image[separable, 2048**2].gain(multiply_adds)` the products,
# and ``ndimage.convolve`` takes :measured:`image[separable, 2048**2].speedup(ndimage)` the time for it. For a
# kernel of 63 by 63 it is :measured:`by_kernel[separable, 63**2].gain(multiply_adds)` the products and
# :measured:`by_kernel[separable, 63**2].speedup(ndimage)` the time. Not every kernel can be split. Gaussians
# can, and so can boxes and Sobel's filter for edges; ``ndimage.gaussian_filter`` works in two passes by
# itself.

# %%
# One kernel for both passes: the columns' sums stay on the chip
# ---------------------------------------------------------------
#
# Between CuPy's two passes a whole image is written and read again. If you write the kernel yourself, it
# need not. In the one below each thread goes down a column of pixels, and adds each pixel to the sums of 16
# rows, which are in registers. The threads of a block put these sums into :term:`shared memory`, wait for one
# another, and go along the rows. For its rows a block needs 7 more columns on either side, so blocks overlap.
#
# .. kernel:: gpuguide.topics.convolution.kernels
#    :names: blur_source
#
# The number of weights is known when the kernel is compiled, so the compiler unrolls the loops over them.
#
# .. rung:: fused

options = "-DK=15", "-DROWS=16", "-DTHREADS=128"
blur = cp.RawKernel(blur_source, "blur", options)

in_one = cp.empty_like(image)
height, width = image.shape
blocks = -(-width // (128 - 15 + 1)), -(-height // 16)
blur(blocks, (128,), (image, column, row, in_one, np.int32(height), np.int32(width)))
print("the same:", bool(cp.allclose(in_one, blurred)))

# %%
# It takes :measured:`image[fused, 2048**2].time`, and CuPy's two passes take
# :measured:`image[separable, 2048**2].time`. How much is left to gain? Two things limit a convolution: its
# products, and the bytes that it reads and writes. An image of 2048 by 2048 and its result fit into the
# :term:`L2 cache`, so for the bytes we also took one of 6000 by 6000.
#
# .. list-table:: Shares of what this GPU can do at most
#    :header-rows: 1
#
#    * - way
#      - arithmetic, at 2048 by 2048
#      - memory, at 6000 by 6000
#    * - ``convolve2d``
#      - :measured:`image[convolve2d, 2048**2].flop_share`
#      -
#    * - ``correlate2d``
#      - :measured:`image[correlate2d, 2048**2].flop_share`
#      -
#    * - ``ndimage``
#      - :measured:`image[ndimage, 2048**2].flop_share`
#      -
#    * - FFT
#      -
#      - :measured:`large[fft, 6000**2].share`
#    * - two passes of ``ndimage``
#      - :measured:`image[separable, 2048**2].flop_share`
#      - :measured:`large[separable, 6000**2].share`
#    * - one kernel
#      - :measured:`image[fused, 2048**2].flop_share`
#      - :measured:`large[fused, 6000**2].share`
#
# Of the FFT just image and result are counted, although its steps move more. For 6000 by 6000 pixels two
# passes take :measured:`large[separable, 6000**2].time`, and one kernel takes
# :measured:`large[fused, 6000**2].time`. Two passes move the image four times, and one kernel moves it twice,
# which explains only a part of that. We think that the rest comes from the unrolled loops, with their sums in
# registers. :evidence:`opinion` What is left to gain is the half of the memory's speed that one kernel leaves
# unused.
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: fused, blur_kernel
#    :fold: The launch as it was timed

# %%
# Copies: pageable and pinned
# ---------------------------
#
# If the image comes from the host, and the result must go back, two copies are added. For 2048 by 2048 pixels
# each is 16 MiB. The GPU copies by itself from and to :term:`pinned memory`, which you reserve once:
#
# .. rung:: with_copies_pinned

import cupyx

image_pinned = cupyx.empty_pinned(image_host.shape, np.float32)  # once, for many images
out_pinned = cupyx.empty_pinned(image_host.shape, np.float32)
image_pinned[:] = image_host

image.set(image_pinned)
down = ndimage.convolve1d(image, column, axis=0, mode="constant")
ndimage.convolve1d(down, row, axis=1, mode="constant").get(out=out_pinned)
print("the same:", np.allclose(out_pinned, expected))

# %%
# From pinned memory and back, the two passes take :measured:`image[with_copies_pinned, 2048**2].time`; from
# and to NumPy's ordinary, :term:`pageable <pageable memory>` memory
# :measured:`image[with_copies, 2048**2].time`. On 16 virtual CPUs a loop of our own, which comes below, takes
# :measured:`image[separable_simd, 2048**2].time`, and beats the GPU with pageable copies. An
# image of 256 by 256 still takes :measured:`small[with_copies_pinned, 256**2].time` with pinned copies and
# :measured:`small[with_copies, 256**2].time` with pageable ones: each launch and each copy has a fixed cost.
#
# .. kernel:: gpuguide.topics.convolution.study
#    :names: with_copies
#    :fold: With pageable copies

# %%
# Result: the size of the kernel decides which way is the fastest
# ---------------------------------------------------------------

# draw
ax = gg.plot_time(by_kernel)
ax.set_xlabel("kernel, for an image of 2048 by 2048")
_ = ax.xaxis.set_major_formatter(lambda n, _: f"{n**0.5:.0f}×{n**0.5:.0f}")

# %%
# .. finding::
#
#    For a kernel of 63 by 63 the direct sum takes :measured:`by_kernel[ndimage, 63**2].time`, two passes take
#    :measured:`by_kernel[separable, 63**2].time`, and the FFT takes :measured:`by_kernel[fft, 63**2].time`.
#    One kernel for both passes takes :measured:`by_kernel[fused, 63**2].time`. The image is on the GPU
#    already.
#
# The direct sum has a product for each pixel and weight; two passes have one for each pixel and each row and
# column of the kernel. To the FFT the kernel just adds a few pixels at the border. So, of CuPy's functions,
# take ``ndimage.convolve`` for the smallest kernel, and two passes for a larger one if it can be split. For a
# very large one ``fftconvolve`` has the least work for the GPU, but Python takes
# :measured:`by_kernel[fft, 63**2].launch` to launch it: only for a larger image does that not count. For a
# kernel that cannot be split, the FFT overtakes the direct sum
# :measured:`by_kernel.crossover(ndimage, fft)`; a kernel of 15 by 15 has 225.
#
# Compare GPU and CPU by one method, and with the best rival. ``scipy.ndimage`` computes in double precision,
# one number at a time. We wrote a loop that goes along lines of ``float32``. Neighbouring pixels do not
# depend on one another, so Numba's compiler takes several at once by :term:`SIMD`, and needs no ``fastmath``.
# For two passes on all threads it takes :measured:`image[separable_simd, 2048**2].time`, PyTorch's ``conv2d``
# takes :measured:`image[separable_torch, 2048**2].time`, and ``scipy.ndimage``
# :measured:`image[separable_threads, 2048**2].time`. Our kernel on the GPU takes
# :measured:`image[fused, 2048**2].time`, without the copies.
#
# .. kernel:: gpuguide.topics.convolution.kernels
#    :names: add_scaled, separable_simd
#    :fold: Two passes with SIMD
#
# .. kernel:: gpuguide.topics.convolution.cpu
#    :names: direct_threads, fft_threads, separable_threads, in_strips, conv2d
#    :fold: SciPy and PyTorch on all threads
#
# .. results:: image

# %%
# Your turn: compare fairly
# -------------------------
#
# Is it worth blurring one image on the GPU? Write the comparison that answers it, copies included. The check
# brings virtual machines, whose true times it knows.
#
# .. exercise:: fair_comparison

# %%
# Next
# ----
#
# Onward: :doc:`Random numbers </gallery/cupy/random_numbers>`, made on the GPU. Sideways:
# :doc:`Transfers </gallery/moving_data/transfers>`, on what copies cost and whether a convolution is worth
# them.
