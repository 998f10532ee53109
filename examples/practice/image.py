"""
From photo to table: stay on the GPU
====================================

How does a photo go through many steps on the GPU, and where does the time go?
"""
# %%
# Copy a photo to the GPU once, take every step there, and bring back a table. CuPy then finds and measures
# the stars on 16 million pixels in :measured:`count[cupy_pinned, 4096**2].time`, copies included; compiled
# loops on all threads of the CPU take :measured:`count[cpu_threads, 4096**2].time`. Two kernels of your own,
# for the slowest steps, bring it down to :measured:`count[kernels_pinned, 4096**2].time`.
#
# .. headline:: Three steps: find what stands out, label it, measure it
#
# .. drawn:: image
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#     from gpuguide.charts.style import KERNEL, SERIES, describe, style
#
#     part = slice(24, 80), slice(6, 62)
#     photo, gain, number = (arrays[name][part] for name in ("photo", "gain", "labels"))
#     rgb = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in SERIES]
#     labelled = np.array([(0, 0, 0), *rgb], np.uint8)[
#         np.where(number, 1 + (5 * number) % len(SERIES), 0)
#     ]
#     steps = {
#         "photo": (photo, 180),
#         "stands out": (gain, 50),
#         "labelled": (labelled, None),
#         "measured": (photo, 180),
#     }
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2))[1]
#         for at, (picture, top) in enumerate(steps.values()):
#             extent = (1.05 * at, 1.05 * at + 1, 0, 1)
#             look = {"cmap": "gray", "vmin": 0, "vmax": top, "interpolation": "none"}
#             ax.imshow(picture, extent=extent, **look)
#         frame = plt.Rectangle((3.15, 0), 1, 1, transform=ax.transData)
#         stars = np.unique(number[number > 0])
#         for star in stars:
#             places = np.argwhere(number == star)
#             light = photo[number == star].astype(float)
#             row, col = (light @ places / light.sum() + 0.5) / len(photo)
#             centre, radius = (3.15 + col, 1 - row), 0.04 + 0.0006 * light.sum() ** 0.5
#             circle = plt.Circle(centre, radius, fill=False, color=KERNEL, linewidth=1)
#             ax.add_patch(circle).set_clip_path(frame)
#         ax.set(xlim=(0, 4.15), ylim=(0, 1), yticks=(), frame_on=False, anchor="W")
#         ax.set_xticks([0.5 + 1.05 * at for at in range(4)], list(steps))
#         ax.tick_params(length=0)
#         ax.grid(visible=False)
#         describe(
#             ax,
#             "Four pictures of the same corner of a night sky. A noisy photo with stars on a grey glow. "
#             f"The same without noise and glow, so that the stars stand out. {len(stars)} stars, each "
#             "in a colour of its own. And the photo with a circle around each star, large where it is "
#             "bright.",
#         )
#
# .. headline:: CuPy beats all threads of the CPU, and two kernels of your own beat CuPy
#
# .. drawn:: image
#
#     from gpuguide.charts.shapes import plot_values
#
#     ways = {
#         "CPU, all threads": "cpu_threads",
#         "CuPy, pageable copies": "cupy_pageable",
#         "CuPy, pinned copies": "cupy_pinned",
#         "CuPy and two Numba kernels, pinned copies": "kernels_pinned",
#     }
#     times = {label: results.time(name, 4096**2) for label, name in ways.items()}
#     plot_values(times, "time from a photo of 4096 by 4096 pixels to its table, both in the CPU's memory")

# %%
# The same lines for CPU and GPU
# ------------------------------
#
# A star stands out from its surroundings. A narrow blur takes the noise away, a wide one leaves only the glow
# of the sky, and where the first is brighter than the second by more than a limit, there is a star: a
# threshold on a *difference of Gaussians*. ``label`` gives bright pixels that share an edge the same number,
# and ``bincount`` adds up what has one number.
#
# ``cupyx.scipy.ndimage`` has the functions of ``scipy.ndimage``, as CuPy has those of NumPy. Therefore, the
# functions below take the two modules as arguments: ``xp`` is NumPy or CuPy, and ``ndimage`` goes with it.

import cupy as cp
import cupyx.scipy.ndimage
import numpy as np
import scipy.ndimage

# A photo: stars, most of them faint, a band of light across the sky, and noise.
rng = np.random.default_rng(0)
sky = np.zeros((1000, 1200), np.float32)
brightness = 400 / (1 - rng.random(2000, np.float32)) ** 0.9
sky.flat[rng.integers(0, sky.size, 2000)] = brightness
sky = scipy.ndimage.gaussian_filter(sky, 1.6)
row, col = np.ogrid[:1000, :1200]
sky += 20 + 60 * np.exp(-(((row - col) / 300) ** 2))
sky += 5 * rng.standard_normal(sky.shape)
photo = sky.clip(0, 255).astype(np.uint8)

# Gaussians of sigma 1.5 and 6; in whole numbers, so that float32 gets every sum exactly.
NARROW = np.array([2, 9, 28, 55, 68, 55, 28, 9, 2], np.float32)
HALF = [1, 1, 2, 2, 3, 4, 6, 7, 9, 10, 12, 14, 15, 16, 17]
WIDE = np.array([*HALF, 18, *HALF[::-1]], np.float32)
LIMIT = np.float32(6 * 256 * 256)  # six shades of grey


def blur(image, weights, ndimage):
    """Blur in two passes, down the columns and along the rows."""
    down = ndimage.convolve1d(image, weights, axis=0, output=np.float32)
    return ndimage.convolve1d(down, weights, axis=1)


def find(image, xp, ndimage):
    """Give the pixels of each star its number."""
    soft = blur(image, xp.asarray(NARROW), ndimage)
    glow = blur(image, xp.asarray(WIDE), ndimage)
    return ndimage.label(soft - glow > LIMIT)


def measure(image, labels, n, xp):
    """Add up pixels, light, light times row and light times column of each star."""
    place = xp.flatnonzero(labels)
    label, light = labels.ravel()[place], image.ravel()[place].astype(np.float64)
    row, col = place // image.shape[1], place % image.shape[1]
    quantities = xp.ones_like(light), light, light * row, light * col
    sums = [xp.bincount(label, weights, n + 1)[1:] for weights in quantities]
    return xp.stack(sums, axis=1)


image = cp.asarray(photo)
labels, n = find(image, cp, cupyx.scipy.ndimage)
stars = measure(image, labels, n, cp)

expected = measure(photo, *find(photo, np, scipy.ndimage), np)
print(n, "stars; as with SciPy:", np.array_equal(stars.get(), expected))
pixels, light, by_row, by_col = stars[int(stars[:, 1].argmax())].get()
place = f"row {by_row / light:.1f}, column {by_col / light:.1f}"
print(f"the brightest: {pixels:.0f} pixels around {place}")

# %%
# .. try-it::
#
#    Set ``LIMIT`` to two shades of grey, ``np.float32(2 * 256 * 256)``. Now grains of noise count as stars,
#    too, and there are half as many again. Both libraries still agree on each of them.
#
# Stars that touch get one number together, as in the lower right corner of the pictures.

# %%

# record: The studies, every bit compared; each step, and the sums, timed alone; the pictures
import gpuguide as gg
from gpuguide.topics.image import steps
from gpuguide.topics.image import study as image_study
from gpuguide.topics.image.kernels import add_up, stands_out

results = image_study.count.run()
bright = image_study.bright.run()
for name, samples in {**steps.time_steps(), **steps.time_sums()}.items():
    gg.fact(name, float(np.median(samples)), unit="s", samples=samples)

soft, glow = (blur(image, cp.asarray(x), cupyx.scipy.ndimage) for x in (NARROW, WIDE))
corner = slice(533, 613), slice(975, 1055)
number = np.unique(labels[corner].get(), return_inverse=True)[1]
_ = gg.keep("photo", photo[corner])
_ = gg.keep("gain", ((soft - glow)[corner] / 65536).clip(0, 255).astype(np.uint8))
_ = gg.keep("labels", number.reshape(80, 80).astype(np.uint8))

# %%
# Where the time goes
# -------------------
#
# Wait for the GPU after each step, and read a clock. It starts when the photo is an array in the
# memory of the CPU: reading and decoding a file comes before that. With the waits, the whole may take a
# little longer than at the top.
#
# .. headline:: In CuPy, the blurs take longest: replace them first

# draw
ways = {
    "CuPy, pageable": "pageable",
    "CuPy, pinned": "pinned",
    "own kernels, pinned": "kernels",
}
parts = {
    "copies": ("copy", "back"),
    "blurs and limit": ("mask",),
    "label": ("label",),
    "measure": ("measure",),
}
bars = {
    label: {
        part: sum(facts[f"{way}_{step}"].value for step in names)
        for part, names in parts.items()
    }
    for label, way in ways.items()
}
_ = gg.plot_decomposition(bars)

# %%

# draw
together, spread = facts["bincount_all"].value, facts["bincount_spread"].value
gg.fact("queue", together / spread, unit="ratio", note="sky under one label, by many")
large = 4096**2
gg.claim(results, "cupy_pinned", faster_than="cupy_pageable", at=large, by=1.25)
gg.claim(results, "cupy_pinned", faster_than="cpu_threads", at=large, by=3.6)
gg.claim(results, "kernels_pinned", faster_than="cupy_pinned", at=large, by=2.3)
gg.claim(results, "kernels_pinned", faster_than="cpu_threads", at=large, by=9.5)
gg.claim(bright, "stands_out", faster_than="six_kernels", at=large, by=9)
_ = gg.claim(results, "cpu_threads", faster_than="cupy_pinned", at=1024**2, by=1.25)

# %%
# .. list-table:: A photo of 4096 by 4096 pixels, with a wait after each step
#    :header-rows: 1
#
#    * - step
#      - SciPy, one thread
#      - CuPy
#      - own kernels
#    * - blurs and limit
#      - :measured:`scipy_mask`
#      - :measured:`pinned_mask`
#      - :measured:`kernels_mask`
#    * - label
#      - :measured:`scipy_label`
#      - :measured:`pinned_label`
#      - the same call
#    * - measure
#      - :measured:`scipy_measure`
#      - :measured:`pinned_measure`
#      - :measured:`kernels_measure`
#
# From an ordinary, :term:`pageable <pageable memory>` array, the copy takes :measured:`pageable_copy`; from
# :term:`pinned memory` it takes :measured:`pinned_copy`. Therefore, make a pinned array once with
# ``cupyx.empty_pinned``, read photos into it, and copy with ``image.set(photo_pinned)``. Send bytes, and let
# the blurs turn them into ``float32`` on the GPU: converted on the CPU, the photo would be four times as
# large on its way.
#
# .. kernel:: gpuguide.topics.image.steps
#    :names: take_steps
#    :fold: The clock between the steps

# %%
# Leave the sky out of the sums
# -----------------------------
#
# Why does ``measure`` pick out the bright pixels and call ``bincount``, if cupyx has SciPy's ``sum_labels``?
# The result is the same:

index = cp.arange(1, n + 1)
light = cupyx.scipy.ndimage.sum_labels(image.astype(cp.float32), labels, index)
print("as with bincount:", bool((light == stars[:, 1]).all()))
print(f"sky: {100 * float((labels == 0).mean()):.0f} % of all pixels")

# %%
# .. headline:: Without the sky, even NumPy on one thread beats sum_labels on the GPU

# draw
from gpuguide.charts.shapes import plot_values

ways = {
    "CuPy: sum_labels": "sum_labels_cupyx",
    "NumPy, one thread: bincount, no sky": "bincount_bright_numpy",
    "CuPy: bincount, with the sky": "bincount_all",
    "CuPy: bincount, no sky": "bincount_bright",
}
times = {label: facts[name] for label, name in ways.items()}
_ = plot_values(times, "time to add up the light of each star on 4096 by 4096 pixels")

# %%
# But in cupyx, each pixel goes through the list of all labels until it finds its own, as `the source
# <https://github.com/cupy/cupy/blob/main/cupyx/scipy/ndimage/_measurements.py>`__ shows. A pixel of the sky
# goes through the whole list in vain, and the more stars there are, the longer the list. ``bincount`` uses
# the label as an index instead.
#
# Leave out the sky there, too. Its pixels all have label 0, so their threads stand in line to add to one and
# the same number. :evidence:`count queue` That queue takes nearly all of the :measured:`bincount_all`: when
# we gave each pixel of the sky no light and the label of some star, chosen at random, the same call made as
# many additions in :measured:`bincount_spread`.

# %%
# One kernel for the blurs and the limit
# --------------------------------------
#
# Up to the mask, six kernels of CuPy go over the image: two passes for each blur, a difference, a comparison.
# They move 43 bytes for each pixel, where one byte of the photo and one of the mask are needed. One kernel
# can do it all. Each thread goes down a column, and puts its sums for eight rows into :term:`shared memory`.
# Then 14 threads for each row make seven of its pixels each. All loops have constant lengths, so the compiler
# can unroll them, and keep the local arrays in :term:`registers <register>`.

from numba import cuda, float32

# Of a block: each thread goes down a column, 15 more on each side than the block's own 98.
ROWS, THREADS, COLUMNS = 8, 128, 98

# %%
# .. kernel:: gpuguide.topics.image.kernels
#    :names: reflected, narrow_sum, wide_sum
#    :fold: Its device functions: reflected borders, and the sums with their weights
#
# .. kernel:: gpuguide.topics.image.kernels
#    :names: stands_out

height, width = image.shape
mask = cp.empty(image.shape, bool)
blocks = (width + COLUMNS - 1) // COLUMNS, (height + ROWS - 1) // ROWS
stands_out[blocks, THREADS](image, mask)
print("the same pixels:", bool((mask == (labels > 0)).all()))

# %%
# The kernel takes :measured:`bright[stands_out, 4096**2].time` instead of
# :measured:`bright[six_kernels, 4096**2].time`; the step in the table includes the launch from Python and the
# wait. Fewer bytes explain little of the gain, for the six kernels reach only
# :measured:`bright[six_kernels, 4096**2].share` of the memory's speed. We think that it comes from registers:
# cupyx fetches a pixel anew for each weight, and works out each time where it lies. :evidence:`opinion`

# %%
# One kernel for all sums
# -----------------------
#
# ``measure`` picks out the bright pixels, makes four arrays of what is to be added up, and calls ``bincount``
# for each. As a kernel, that is a single pass: each thread looks up the label of its pixel, and unless that
# is sky, adds to the four numbers of its star. Other threads may add to the same star at the same time.
# Therefore, each addition is an :term:`atomic operation`.
#
# .. kernel:: gpuguide.topics.image.kernels
#    :names: add_up

table = cp.zeros((n, 4))
blocks = (width + 31) // 32, (height + 7) // 8
add_up[blocks, (32, 8)](image, labels, table)
print("the same table:", bool((table == stars).all()))

# %%
# Now ``label`` takes longest. It returns the number of stars as a Python number, and therefore waits for the
# GPU in the middle of the way.
#
# .. kernel:: gpuguide.topics.image.study
#    :names: on_gpu, bright_in_one, measure_in_one, with_kernels, fetch, kernels_with_copies
#    :fold: The whole way with both kernels, as it was timed

# %%
# What goes wrong: bytes wrap around
# ----------------------------------
#
# In ``uint8``, zero less one is 255, and neither NumPy nor CuPy warns:

glow = blur(image, cp.asarray(WIDE), cupyx.scipy.ndimage)
glow = (glow / 65536).astype(cp.uint8)
gain = image - glow
print("photo:", image[500, :6])
print("glow: ", glow[500, :6])
print("photo less glow:", gain[500, :6])
print(f"above the limit: {100 * float((gain > 6).mean()):.0f} % of all pixels")

# %%
# Where the photo is a little darker than its surroundings, the difference becomes nearly white. Therefore,
# subtract in ``float32``. Keep ``output=np.float32`` in the blurs as well: by default, ``convolve1d`` returns
# the type that it gets, and would put its sums into bytes.

# %%
# On all threads of the CPU
# -------------------------
#
# SciPy works on one thread, so a fair rival uses them all: our own loops go along lines of pixels with
# :term:`SIMD`, and join *runs* of bright pixels that touch. A small photo can stay on the CPU: on one million
# pixels, these loops take :measured:`count[cpu_threads, 1024**2].time` and beat CuPy, and even with two
# kernels of your own the GPU gains little or nothing.
#
# .. kernel:: gpuguide.topics.image.cpu
#    :names: add_pair, blur_line, bright_runs, sum_runs, root, join_runs
#    :fold: The loops on all threads of the CPU

# %%
# .. remember::
#
#    - Copy bytes from pinned memory to the GPU once, take every step there, and bring back a table.
#    - Time each step with a wait after it, and write a kernel for the slowest.
#    - To add up by label, give ``bincount`` only the pixels that have one.

# %%
# Your turn: a box around each star
# ---------------------------------
#
# In which rows and columns does each star lie? The kernel that you begin with searches the whole picture for
# each of them. The check needs no GPU.
#
# .. exercise:: boxes

# thumbnail
from gpuguide.charts import thumbnail

_ = thumbnail.picture(arrays["photo"][24:], "stars on a photo", cmap="gray", vmax=180)

# %%
# Next
# ----
#
# Next: :doc:`Exercises </practice/puzzles>`, with more kernels to write and to mend. See also:
# :doc:`Convolution: blur in two passes </gallery/cupy/convolution>`, on blurs alone, and
# :doc:`Fast copies with pinned memory </gallery/moving_data/transfers>`.
