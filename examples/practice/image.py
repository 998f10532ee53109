"""
A photo from end to end
=======================

How does a photo go through many steps on the GPU, and where does the time go?
"""
# %%
# Copy the photo to the GPU once, take all steps there, and bring back a table instead of pictures. Written for
# NumPy and SciPy, and run by CuPy, the code below finds and measures the stars of a photo of 16 million
# pixels in :measured:`count[cupy_pinned, 4096**2].time`, copies included. SciPy takes
# :measured:`count[scipy, 4096**2].time`, and a good program for all threads of the CPU
# :measured:`count[cpu_threads, 4096**2].time`. Then look for the step that takes longest: with two kernels of
# your own, the photo takes :measured:`count[kernels_pinned, 4096**2].time`.
#
# .. headline:: Four steps from a photo to its stars
#
# .. drawn:: image
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#     from gpuguide.charts.style import KERNEL, SERIES, describe, style
#
#     photo, number = arrays["photo"], arrays["labels"]
#     rgb = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in SERIES]
#     labelled = np.array([(0, 0, 0), *rgb], np.uint8)[
#         np.where(number, 1 + (5 * number) % len(SERIES), 0)
#     ]
#     steps = {
#         "photo": (photo, 220),
#         "less its surroundings": (arrays["gain"], 50),
#         "labelled": (labelled, None),
#         "measured": (photo, 220),
#     }
#     side = len(photo)
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.15))[1]
#         for at, (picture, top) in enumerate(steps.values()):
#             extent = (1.05 * at, 1.05 * at + 1, 0, 1)
#             look = {"cmap": "gray", "vmin": 0, "vmax": top, "interpolation": "none"}
#             ax.imshow(picture, extent=extent, **look)
#         for star in range(1, number.max() + 1):
#             places = np.argwhere(number == star)
#             light = photo[number == star].astype(float)
#             row, col = (light @ places / light.sum() + 0.5) / side
#             around = {"facecolor": "none", "edgecolor": KERNEL, "linewidth": 1.2}
#             ax.scatter(3.15 + col, 1 - row, s=0.02 * light.sum(), **around)
#         ax.set(xlim=(0, 4.15), ylim=(0, 1), yticks=(), frame_on=False, anchor="W")
#         ax.set_xticks([0.5 + 1.05 * at for at in range(4)], list(steps))
#         ax.tick_params(length=0)
#         ax.grid(visible=False)
#         describe(
#             ax,
#             "Four pictures of the same corner of a night sky. A noisy photo with stars on a grey glow. "
#             f"The same without noise and glow, so that the stars stand out. {number.max()} stars, each "
#             "in a colour of its own. And the photo with a circle around each star, large where it is "
#             "bright.",
#         )
#
# .. headline:: 16 million pixels, from an array of NumPy to a table
#
# .. drawn:: image
#
#     from gpuguide.charts.shapes import plot_values
#
#     ways = {
#         "CPU, all threads": "cpu_threads",
#         "CuPy, pageable copies": "cupy_pageable",
#         "CuPy, pinned copies": "cupy_pinned",
#         "CuPy and two own kernels in Numba, pinned copies": "kernels_pinned",
#     }
#     times = {label: results.time(name, 4096**2) for label, name in ways.items()}
#     plot_values(times, "time from end to end")

# %%
# The same lines for CPU and GPU
# ------------------------------
#
# A star stands out from its surroundings. A narrow blur removes the noise, a wide one leaves only the glow of
# the sky, and where the first is brighter than the second by more than a limit, there is a star. ``label``
# gives the pixels that touch one another a common number. ``bincount`` adds up what belongs to each number.
# NumPy and CuPy, ``scipy.ndimage`` and ``cupyx.scipy.ndimage`` have the same functions, so the functions
# below get them as arguments.

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

# Gaussians in whole numbers that add up to 256, so that float32 gets every sum exactly.
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
    what = xp.ones_like(light), light, light * row, light * col
    sums = [xp.bincount(label, weights=x, minlength=n + 1)[1:] for x in what]
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
#    Set ``LIMIT`` to two shades of grey, ``np.float32(2 * 256 * 256)``. Half as many stars again are found, for
#    now grains of noise count as stars. Both libraries still agree on each of them.
#
# Stars that touch in the photo get one number, which no faster code can mend.

# %%

# record: The studies: the whole way and the mask, every bit compared; each step alone; the pictures
import gpuguide as gg
from gpuguide.topics.image import steps
from gpuguide.topics.image import study as image_study
from gpuguide.topics.image.kernels import INSIDE, ROWS, THREADS, add_up, stands_out

results = image_study.count.run()
bright = image_study.bright.run()
for name, samples in {**steps.time_steps(), **steps.time_search()}.items():
    gg.fact(name, float(np.median(samples)), unit="s", samples=samples)

soft, glow = (blur(image, cp.asarray(w), cupyx.scipy.ndimage) for w in (NARROW, WIDE))
gain = (soft - glow) / 65536
corner = slice(200, 280), slice(200, 280)
number = cp.unique(labels[corner], return_inverse=True)[1].reshape(80, 80)
_ = gg.keep("photo", photo[corner])
_ = gg.keep("gain", gain[corner].clip(0, 255).astype(np.uint8))
_ = gg.keep("labels", number.astype(np.uint8))

# %%
# Where the time goes
# -------------------
#
# Wait for the GPU after each step, and read a clock. For 4096 by 4096 pixels that gives:
#
# .. headline:: Once the copies are pinned, the blurs take longest; then they do not

# draw
parts = {"copies": ("copy", "back"), "blurs": ("mask",), "label": ("label",), "measure": ("measure",)}
ways = {"CuPy, pageable": "pageable", "CuPy, pinned": "pinned", "own kernels, pinned": "kernels"}
bars = {
    label: {
        part: sum(facts[f"{way}_{step}"].value for step in names) for part, names in parts.items()
    }
    for label, way in ways.items()
}
_ = gg.plot_decomposition(bars)

# %%
# .. list-table::
#    :header-rows: 1
#
#    * - step
#      - SciPy, one thread
#      - CuPy
#      - own kernels
#    * - photo to the GPU, pinned
#      -
#      - :measured:`pinned_copy`
#      - :measured:`kernels_copy`
#    * - blurs and limit
#      - :measured:`scipy_mask`
#      - :measured:`pinned_mask`
#      - :measured:`kernels_mask`
#    * - label
#      - :measured:`scipy_label`
#      - :measured:`pinned_label`
#      - :measured:`kernels_label`
#    * - measure
#      - :measured:`scipy_measure`
#      - :measured:`pinned_measure`
#      - :measured:`kernels_measure`
#    * - table to the host
#      -
#      - :measured:`pinned_back`
#      - :measured:`kernels_back`
#
# From an ordinary, :term:`pageable <pageable memory>` array the copy alone takes :measured:`pageable_copy`.
# Read a photo into :term:`pinned memory`, and copy from there with ``image.set(photo_pinned)``. Send bytes,
# which the blurs turn into ``float32`` on the GPU: four times as many bytes would cross the link otherwise.

# %%
# One kernel instead of six
# -------------------------
#
# Up to the mask, cupyx launches six kernels: two passes for each blur, a difference, and a comparison. Each
# reads whole images and writes another one: 43 bytes for each pixel, all in all. What is needed is one byte
# of the photo and one of the mask. In the kernel below, a thread goes down a column and makes the sums of
# eight rows for both blurs in registers. It puts them into :term:`shared memory`, waits for the others, and
# goes along the rows. The 15 threads on either side of a block only help with the first pass.
#
# .. kernel:: gpuguide.topics.image.kernels
#    :names: reflected, stands_out

height, width = image.shape
mask = cp.empty(image.shape, bool)
blocks = (width + INSIDE - 1) // INSIDE, (height + ROWS - 1) // ROWS
stands_out[blocks, THREADS](image, mask)
print("the same pixels:", bool(((labels > 0) == mask).all()))

# %%
# It takes :measured:`bright[stands_out, 4096**2].time` for 4096 by 4096 pixels, where the six kernels take
# :measured:`bright[six_kernels, 4096**2].time`.

# %%
# Four sums in one pass
# ---------------------
#
# ``measure`` picks out bright pixels, makes four arrays of weights and calls ``bincount`` four times. As a
# kernel it is one pass: each thread asks for its pixel's label, and adds to the four sums of that star. As
# many threads add to one star, they use an :term:`atomic operation`.
#
# .. kernel:: gpuguide.topics.image.kernels
#    :names: add_up

table = cp.zeros((n, 4))
blocks = (width + 31) // 32, (height + 7) // 8
add_up[blocks, (32, 8)](image, labels, table)
print("the same table:", bool((table == stars).all()))

# %%
# .. kernel:: gpuguide.topics.image.study
#    :names: on_gpu, bright_in_one, measure_in_one, with_kernels, filled_in, kernels_with_copies
#    :fold: The whole way with both kernels, as it was timed

# %%
# What goes wrong: sums by search, and pictures in bytes
# ------------------------------------------------------
#
# **sum_labels searches.** SciPy's ``sum_labels`` does what ``bincount`` does here, and cupyx has it as well.
# But there each pixel goes through the list of all labels until it finds its own, and a pixel of the sky goes
# to the end.

index = cp.arange(1, n + 1)
light = cupyx.scipy.ndimage.sum_labels(image.astype(cp.float32), labels, index)
print("as bincount:", bool((light == stars[:, 1]).all()))

# %%
# The result is right, and for a photo of 4096 by 4096 pixels it takes :measured:`search_cupy`, where SciPy
# takes :measured:`search_scipy` on one thread, and CuPy's ``bincount`` :measured:`bincount_cupy`.
#
# **The result has the type of the input.** Leave out ``output=np.float32``, and the blurs are in bytes:

down = cupyx.scipy.ndimage.convolve1d(image, cp.asarray(WIDE), axis=0)
wrong = cupyx.scipy.ndimage.convolve1d(down, cp.asarray(WIDE), axis=1)
print(wrong.dtype, wrong[0, :8])

# %%
# On all threads of the CPU
# -------------------------

# %%
# .. remember::
#
#    - Copy bytes from pinned memory to the GPU, stay there, and bring back a table.
#    - Time each step before you write a kernel, and write it for the slowest.
#    - Add up by ``bincount`` over the pixels that count, or by atomics, never by a search for each label.

# %%
# Your turn: each value to its bin
# --------------------------------
#
# Turn a loop of bins over all values into one of values that know their bin. The check needs no GPU.
#
# .. exercise:: histogram

# thumbnail
from gpuguide.charts import thumbnail

_ = thumbnail.picture(arrays["photo"][5:61], "stars on a photo", cmap="gray", vmin=0, vmax=220)

# %%
# Next
# ----
#
# Next:
