"""
A fast convolution, step by step
================================

What makes a kernel fast that adds up hundreds of products for each pixel?
"""
# %%
# Split the weights into a column and a row if you can, and make both passes in one kernel: with 15 by 15
# weights, this is :measured:`ladder[passes, 8192**2].speedup(separable)` as fast as two calls of CuPy. If you
# cannot, let each thread compute many pixels from a window in registers, which is
# :measured:`ladder[from_window, 8192**2].speedup(fft)` as fast as CuPy's FFT.
#
# .. headline:: Windows in registers make the direct sum fast; two passes in one kernel are faster still
#
# .. drawn:: convolution_ladder
#
#     import matplotlib.pyplot as plt
#     from gpuguide.charts.style import CUPY, KERNEL, describe, style
#
#     ways = {
#         "CuPy, ndimage": "ndimage",
#         "CuPy, FFT": "fft",
#         "global memory": "from_global",
#         "a tile": "from_tile",
#         "registers": "from_window",
#         "CUDA C++": "quads",
#         "CuPy, 2 passes": "separable",
#         "2 passes in 1": "passes",
#     }
#     times = {label: results.time(name, 8192**2) for label, name in ways.items()}
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.8))[1]
#         for row, (label, time) in enumerate(times.items()):
#             ax.barh(row, time.value, height=0.64, color=CUPY if "CuPy" in label else KERNEL)
#             ax.text(time.value, row, f"  {time}", va="center", weight="bold")
#         ax.set_yticks(range(len(times)), list(times))
#         longest = max(time.value for time in times.values())
#         ax.set(xlim=(0, 1.25 * longest), xticks=[], ylim=(len(times) - 0.5, -0.5))
#         ax.spines["bottom"].set_visible(False)
#         ax.grid(visible=False)
#         words = "; ".join(f"{label}: {time}" for label, time in times.items())
#         describe(ax, f"Bars of the time for 8192 by 8192 pixels and 15 by 15 weights. {words}.")
#
# .. headline:: A disc of weights blurs as a lens does, and cannot be split
#
# .. drawn:: convolution_ladder
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#     from gpuguide.charts.style import describe, style
#     from matplotlib.cbook import get_sample_data
#     from scipy.ndimage import convolve
#
#     with get_sample_data("grace_hopper.jpg") as file:
#         photo = plt.imread(file, format="jpg")[40:280, 130:370].mean(axis=2)
#     y, x = np.mgrid[-7:8, -7:8]
#     disc = (x**2 + y**2 <= 50).astype(float)
#     soft = convolve(photo, disc / disc.sum())
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.2))[1]
#         look = {"cmap": "gray", "interpolation": "none"}
#         for left, picture in ((0, photo), (1.46, soft)):
#             ax.imshow(picture, extent=(left, left + 1, 0, 1), vmin=0, vmax=255, **look)
#         ax.imshow(np.pad(disc, 4), extent=(1.05, 1.41, 0.32, 0.68), vmin=0, vmax=1, **look)
#         ax.set(xlim=(0, 2.46), ylim=(0, 1), yticks=(), frame_on=False, anchor="W")
#         ax.set_xticks((0.5, 1.23, 1.96), ("photo", "weights", "result"))
#         ax.tick_params(length=0)
#         ax.grid(visible=False)
#         describe(
#             ax,
#             "A portrait photo of Grace Hopper, a white disc of 15 by 15 weights, and the photo blurred, as "
#             "if out of focus.",
#         )

# %%
# Every product from global memory
# --------------------------------
#
# A convolution replaces each pixel by a weighted sum of its neighbours:
# :doc:`Convolution: blur in two passes </gallery/cupy/convolution>` shows how to call CuPy for it. This page
# builds the kernel behind such a call. A thread adds up 225 products for its pixel, and reads a pixel and a
# weight for each. Pixels outside the image count as zero, which takes four comparisons for each product.
#
# .. rung:: from_global
#    :beside:

import cupy as cp
import numpy as np
from numba import cuda, float32
from scipy import ndimage

K = 15
REACH = K // 2


@cuda.jit
def from_global(image, weights, out):
    """Each thread adds up the products for one pixel, all read from global memory."""
    col, row = cuda.grid(2)
    height, width = image.shape
    if row < height and col < width:
        total = float32(0)
        for i in range(K):
            for j in range(K):
                r, c = row + i - REACH, col + j - REACH
                if r >= 0 and r < height and c >= 0 and c < width:
                    total += image[r, c] * weights[K - 1 - i, K - 1 - j]
        out[row, col] = total


# Weights that can be split, so that all ways give the same; whole numbers, so that sums are exact.
COLUMN = np.random.default_rng(0).integers(1, 4, K).astype(np.float32)
ROW = np.random.default_rng(1).integers(1, 4, K).astype(np.float32)
WEIGHTS = np.outer(COLUMN, ROW)

height, width = 600, 800
image_host = np.random.default_rng(0).integers(0, 256, (height, width)).astype(np.float32)
image, weights = cp.asarray(image_host), cp.asarray(WEIGHTS)
out = cp.empty_like(image)
from_global[((width + 31) // 32, (height + 7) // 8), (32, 8)](image, weights, out)

expected = ndimage.convolve(image_host, WEIGHTS, mode="constant")
print("as in SciPy:", np.array_equal(out.get(), expected))

# %%
# .. try-it::
#
#    Write ``total = 0.0`` for ``total = float32(0)``. The result is the same, as these sums are exact in
#    either type, so no test tells you that all sums are now in double precision. What that costs is shown in
#    :doc:`Types: keep kernels in 32 bits </gallery/first_kernels/numba_types>`.

# %%

# record: The studies: the ladder at three sizes, kernels of four sizes, every pixel checked
import gpuguide as gg
from gpuguide.topics.convolution_ladder import study as ladder
from gpuguide.topics.convolution_ladder.kernels import (
    from_tile,
    from_window,
    passes_source,
    quads_source,
)

ladder.compile_kernels()
results = ladder.ladder.run()
by_kernel = ladder.by_kernel.run()

# %%
# A tile in shared memory
# -----------------------
#
# Global memory is not what limits this kernel: the units that compare numbers and compute indices are in use
# :measured:`ladder[from_global, 8192**2].counter(alu_active)` of the time. :evidence:`counter alu_active` Let
# a block bring its pixels, and 7 more on each side, into :term:`shared memory` once, and wait until all are
# there. What lies outside is stored as zero, so that no product has to ask whether its pixel exists.
#
# .. rung:: from_tile
#    :beside:

out[:] = -1
from_tile[((width + 31) // 32, (height + 7) // 8), (32, 8)](image, weights, out)
print("as in SciPy:", np.array_equal(out.get(), expected))

# %%
# This is :measured:`ladder[from_tile, 8192**2].speedup(from_global)` as fast, and still reaches only
# :measured:`ladder[from_tile, 8192**2].flop_share` of the arithmetic that this GPU can do. Now the number of
# instructions is the limit: in :measured:`ladder[from_tile, 8192**2].counter(issue_active)` of all clock
# cycles, a multiprocessor starts as many as it can. :evidence:`counter issue_active` But few of them
# multiply: for each product, a thread fetches two numbers from shared memory, and works out where they are.

# %%
# A window in registers
# ---------------------
#
# What is in a register needs no load. Let a thread compute 16 pixels, one below the other. It reads
# a column of 30 pixels from the tile, and makes 240 products of them: 15 for each of its 16 sums. Then it
# goes on to the next column. Numba keeps a local array in registers if all of its indices are known when it
# compiles, which loops over constants allow. It also has to know the weights: they become constants of the
# kernel.
#
# .. rung:: from_window
#    :beside:

out[:] = -1
from_window[((width + 31) // 32, (height + 63) // 64), (32, 4)](image, out)
print("as in SciPy:", np.array_equal(out.get(), expected))

# %%
# It is :measured:`ladder[from_window, 8192**2].speedup(from_tile)` as fast as with the tile alone. For other
# weights, compile another kernel: make it in a function that gets the weights.

# %%
# Weights in the instructions: CUDA C++
# -------------------------------------
#
# A thread still reads 15 weights for each column of its window. In CUDA C++, ``#pragma unroll`` unrolls every
# loop, so that the compiler knows for each product which weight it takes. A weight in ``__constant__`` memory
# then is part of the multiplication, and no instruction loads it. Pixels come from shared memory four at a
# time, as a ``float4``: five such loads serve 120 products, of four pixels in each of two rows.
#
# .. kernel:: gpuguide.topics.convolution_ladder.kernels
#    :names: quads_source
#    :fold: The kernel in CUDA C++: quads_source

module = cp.RawModule(code=quads_source, options=("-DK=15",))
convolve = module.get_function("convolve")
constants = cp.ndarray((K, K), dtype=cp.float32, memptr=module.get_global("weights"))
constants[...] = cp.asarray(WEIGHTS[::-1, ::-1].copy())  # turned

out[:] = -1
blocks = (width + 127) // 128, (height + 15) // 16
convolve(blocks, (32, 8), (image, out, np.int32(height), np.int32(width)))
print("as in SciPy:", np.array_equal(out.get(), expected))

# %%
# It reaches :measured:`ladder[quads, 8192**2].flop_share` of this GPU's arithmetic, and is
# :measured:`ladder[quads, 8192**2].speedup(from_window)` as fast as the kernel in Numba. There is little more
# to gain: in :measured:`ladder[quads, 8192**2].counter(issue_active)` of all clock cycles, a multiprocessor
# starts as many instructions as it can. For other weights, copy them to the same place; the kernel stays.
#
# .. list-table:: Fewer instructions, less time: 8192 by 8192 pixels
#    :header-rows: 1
#
#    * - kernel
#      - a thread's loads for 240 products
#      - instructions
#      - time
#    * - global memory
#      - 240 pixels, 240 weights
#      - :measured:`ladder[from_global, 8192**2].counter(instructions)`
#      - :measured:`ladder[from_global, 8192**2].time`
#    * - a tile
#      - 240 pixels, 240 weights
#      - :measured:`ladder[from_tile, 8192**2].counter(instructions)`
#      - :measured:`ladder[from_tile, 8192**2].time`
#    * - registers
#      - 30 pixels, 15 weights
#      - :measured:`ladder[from_window, 8192**2].counter(instructions)`
#      - :measured:`ladder[from_window, 8192**2].time`
#    * - CUDA C++
#      - 10 times four pixels
#      - :measured:`ladder[quads, 8192**2].counter(instructions)`
#      - :measured:`ladder[quads, 8192**2].time`

# %%
# If the weights can be split: two passes in one kernel
# -----------------------------------------------------
#
# A Gaussian, a box and Sobel's filter are the product of a column and a row, and then 30 products for each
# pixel are enough. :doc:`Convolution: blur in two passes </gallery/cupy/convolution>` has a kernel that makes
# both passes and keeps what lies between them in shared memory. In the next one, a block marches down the
# image. Each thread keeps a piece of one column in registers, and loads the next rows while it computes. Then
# it takes four neighbours of a row at once, and reads five ``float4`` of sums for their 60 products.
#
# .. kernel:: gpuguide.topics.convolution_ladder.kernels
#    :names: passes_source
#    :fold: The kernel in CUDA C++: passes_source

module = cp.RawModule(code=passes_source, options=("-DK=15",))
for name, values in (("column", COLUMN), ("row", ROW)):
    constants = cp.ndarray(K, dtype=cp.float32, memptr=module.get_global(name))
    constants[...] = cp.asarray(values[::-1].copy())  # turned
rows = 72 if height <= 4096 else 144  # the fewer blocks, the fewer rows are read twice
in_a_block = (128 - K + 1) // 4 * 4, rows  # columns and rows of the result

out[:] = -1
blocks = tuple((n + m - 1) // m for n, m in zip((width, height), in_a_block, strict=True))
sizes = np.int32(height), np.int32(width), np.int32(rows)
module.get_function("blur")(blocks, (128,), (image, out, *sizes))
print("as in SciPy:", np.array_equal(out.get(), expected))

# %%
# An image of 8192 by 8192 takes :measured:`ladder[passes, 8192**2].time`, where the kernel of the other page
# takes :measured:`ladder[fused, 8192**2].time`, and two calls of CuPy
# :measured:`ladder[separable, 8192**2].time`. With so few products, memory is near: the pixels come and go at
# :measured:`ladder[passes, 8192**2].share` of the speed of a copy.

# %%

# draw
large = 8192**2
gg.claim(results, "from_tile", faster_than="from_global", at=large, by=1.5)
gg.claim(results, "from_window", faster_than="from_tile", at=large, by=4)
gg.claim(results, "from_window", faster_than="ndimage", at=large, by=6)
gg.claim(results, "from_window", faster_than="fft", at=large, by=3.3)
gg.claim(results, "quads", faster_than="from_window", at=large, by=1.5)
gg.claim(results, "passes", faster_than="quads", at=large, by=3)
gg.claim(results, "passes", faster_than="separable", at=large, by=10)
gg.claim(results, "passes", faster_than="fused", at=large, by=1.35)
gg.claim(results, "quads", faster_than="direct_simd", at=2048**2, by=100)
gg.claim(results, "passes", faster_than="separable_simd", at=2048**2, by=60)
gg.claim(by_kernel, "quads", faster_than=("fft", "ndimage"), at=15**2, by=6)
gg.claim(by_kernel, "quads", faster_than="fft", at=31**2, by=1.4)
gg.claim(by_kernel, "ndimage", faster_than=("fft", "separable"), at=3**2, by=1.3)
gg.claim(by_kernel, "ndimage", faster_than="fft", at=7**2, by=2)
gg.claim(by_kernel, "fft", faster_than="ndimage", at=15**2, by=1.3)
for k in (7, 15, 31):
    gg.claim(by_kernel, "separable", faster_than=("fft", "ndimage"), at=k**2, by=1.1)

# %%
# What goes wrong: the weights run backwards
# ------------------------------------------
#
# A convolution goes through its weights backwards, and a correlation forwards. With weights that look the
# same from both sides you cannot tell, so test with others. Hand turned weights to the first kernel, and it
# computes what SciPy calls ``correlate``:

turned = cp.ascontiguousarray(weights[::-1, ::-1])
from_global[((width + 31) // 32, (height + 7) // 8), (32, 8)](image, turned, out)
correlated = ndimage.correlate(image_host, WEIGHTS, mode="constant")
print("as in convolve: ", np.array_equal(out.get(), expected))
print("as in correlate:", np.array_equal(out.get(), correlated))

# %%
# Which way for which kernel
# --------------------------
#
# .. headline:: CuPy: two passes beat the FFT; without a split, the FFT pays from 15 by 15 on

# draw
ax = gg.plot_time(by_kernel)
ax.set(xlabel="kernel, for an image of 2048 by 2048", ylabel="time on the GPU, no copies")
_ = ax.xaxis.set_major_formatter(lambda n, _: f"{n**0.5:.0f}×{n**0.5:.0f}")

# %%
# Call CuPy first: ``ndimage.convolve`` for 3 by 3 weights, two passes for more if they can be split; if not,
# ``ndimage.convolve`` up to 7 by 7 and the FFT from 15 by 15 on. Write a kernel for a convolution that you
# need all day. It is faster than all of these: for 2048 by 2048 pixels and 31 by 31 weights, the direct sum
# takes :measured:`by_kernel[quads, 31**2].time`, both passes :measured:`by_kernel[passes, 31**2].time`, and
# CuPy's FFT :measured:`by_kernel[fft, 31**2].time`.
#
# .. dropdown:: The same on the CPU
#
#    .. list-table:: An image of 2048 by 2048, 15 by 15 weights, on 16 virtual CPUs
#       :header-rows: 1
#
#       * - way
#         - time
#       * - direct, our own loop with :term:`SIMD`
#         - :measured:`ladder[direct_simd, 2048**2].time`
#       * - two passes, our own loop with SIMD
#         - :measured:`ladder[separable_simd, 2048**2].time`
#       * - direct, on the GPU
#         - :measured:`ladder[quads, 2048**2].time`
#       * - both passes, on the GPU
#         - :measured:`ladder[passes, 2048**2].time`
#
# .. kernel:: gpuguide.topics.convolution_ladder.kernels
#    :names: direct_simd
#    :fold: The direct sum with SIMD, on all threads of the CPU
#
# .. kernel:: gpuguide.topics.convolution_ladder.study
#    :names: quads, quads_kernel, passes, passes_kernel, with_constants
#    :fold: The launches as they were timed

# %%
# .. remember::
#
#    - Split the weights if you can, and make both passes in one kernel: with 15 by 15 weights this is
#      :measured:`ladder[passes, 8192**2].speedup(quads)` as fast as the best direct sum.
#    - Count the loads for a product: 16 pixels per thread in registers are
#      :measured:`ladder[from_window, 8192**2].speedup(from_tile)` as fast as two loads for each.
#    - Call CuPy first: two passes if the weights can be split, else ``ndimage.convolve`` up to 7 by 7 and the
#      FFT from 15 by 15 on.

# %%
# Your turn: smooth from a tile
# -----------------------------
#
# The same along one axis: a block brings what its threads share into shared memory, and reads nothing twice.
#
# .. exercise:: convolution_1d

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "global memory": "from_global",
    "a tile": "from_tile",
    "registers": "from_window",
}
times = {label: results.time(name, 8192**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a convolution")

# %%
# Next
# ----
#
# Next: :doc:`Stencils: several cells, several steps </gallery/fast_kernels/stencil>`, where cells are
# computed from their neighbours again and again. See also:
# :doc:`Registers: use a local variable </gallery/fast_kernels/registers>`, on what fits into them.
#
# The photo shows Grace Hopper. It was taken for the U.S. Navy, is in the public domain, and comes with
# `Matplotlib <https://matplotlib.org>`__.
