"""Steps of the Mandelbrot set: work that varies from pixel to pixel, dealt out in several orders."""

from functools import cache
from math import isqrt

import numpy as np

from gpuguide.machine.cpu import in_threads
from gpuguide.measure import Study, kernel
from gpuguide.topics.divergence.kernels import LEFT, SPAN, TOP, one_pixel
from gpuguide.topics.divergence.study import grid

MOST_STEPS = 256
TILE_ROWS, TILE_COLS = 4, 8
PART = 1 << 14


# The inputs need it for their order before the check does.
@cache
def escape_reference(n):
    """Let all pixels of a part take a step at a time; those that are out stay at 0 and count no more."""
    steps = np.zeros(n, np.int32)
    in_threads(
        lambda start: count(steps, np.arange(start, min(start + PART, n))),
        range(0, n, PART),
        8 * steps.nbytes,
    )
    # All callers get this one array, which the cache keeps.
    steps.flags.writeable = False
    return steps


def count(steps, pixel):
    """Count the steps of some pixels."""
    width = width_of(steps.size)
    re = LEFT + pixel % width * (SPAN // width)
    im = TOP + pixel // width * (SPAN // width)
    x, y, inside = np.zeros_like(re), np.zeros_like(re), np.ones(re.size, bool)
    for turn in range(MOST_STEPS):
        xx, yy = x * x >> 20, y * y >> 20
        inside &= xx + yy <= 4 << 20
        steps[pixel] += inside
        x, y = (xx - yy + re) * inside, ((2 * x * y >> 20) + im) * inside
        if turn % 8 == 7:  # drop them only now and then: that takes longer than a step
            pixel, re, im, x, y = (array[inside] for array in (pixel, re, im, x, y))
            inside = inside[inside]


def width_of(n):
    """Return the columns of a picture that is as nearly square as whole numbers allow."""
    return max(1, isqrt(n))


def tile_order(n):
    """List the pixels tile by tile, so that a warp has 8 columns of 4 rows."""
    row, col = np.divmod(np.arange(n), width_of(n))
    # Any factor above the number of tiles in a row would do; n is.
    tile = row // TILE_ROWS * n + col // TILE_COLS
    return np.argsort(tile, kind="stable").astype(np.int32)


def inputs(n, dtype, rng, exact):
    """List all pixels in four orders: in rows, in tiles, in any, and by their steps."""
    in_rows = np.arange(n, dtype=dtype)
    descending = np.argsort(-escape_reference(n), kind="stable").astype(dtype)
    return in_rows, tile_order(n), rng.permutation(in_rows), descending


def ordered(place, name, label, note):
    """Describe the kernel with one of the four orders of its pixels."""
    return kernel(
        one_pixel,
        label,
        grid,
        name=name,
        note=note,
        arguments=lambda *arrays: (arrays[place], width_of(arrays[-1].size), arrays[-1]),
    )


escape = Study(
    name="escape",
    title="Steps of the Mandelbrot set",
    sizes=(1024**2,),
    size_name="pixels",
    dtype="int32",
    inputs=inputs,
    input_note="all pixels, in four orders",
    reference=lambda in_rows, *orders: escape_reference(in_rows.size),
    baseline="rows",
    variants=(
        ordered(0, "rows", "rows", "Give a warp 32 neighbours of one row."),
        ordered(1, "tiles", "tiles", "Give a warp 8 neighbours of each of 4 rows."),
        ordered(2, "shuffled", "shuffled", "Give a warp 32 pixels from anywhere."),
        ordered(
            3,
            "by_steps",
            "by steps",
            "Give a warp 32 pixels of about the same steps, as if those were known.",
        ),
    ),
)
