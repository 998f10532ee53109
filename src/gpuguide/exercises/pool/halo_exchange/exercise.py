"""Slabs of a plate with room for rows of their neighbours: which rows go where."""

import numpy as np

from gpuguide.exercises.judging import require
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.tracer.findings import count, joined

# Own rows of each slab, and the width of the rim: one slab, slabs that are all rim, of different lengths.
PLATES = (
    ((4, 4), 1),
    ((5, 3, 4, 6), 1),
    ((6, 4, 5), 2),
    ((3, 3, 3), 3),
    ((1, 1, 1, 1), 1),
    ((7, 9), 3),
    ((5,), 2),
)
COLUMNS = 4
NOBODY = -1.0  # in the rims before the exchange; the numbers of the plate are between 0 and 1


def cases():
    for rows, width in PLATES:
        plate = np.random.default_rng(0).random((sum(rows), COLUMNS))
        whole = np.pad(plate, ((width, width), (0, 0)), constant_values=NOBODY)
        ends = np.cumsum(rows)
        expected = [whole[end - n : end + 2 * width].copy() for n, end in zip(rows, ends, strict=True)]
        slabs = [slab.copy() for slab in expected]
        for slab in slabs:
            slab[:width] = slab[len(slab) - width :] = NOBODY
        about = f"With {count(len(rows), 'slab')} of {joined(rows)} rows and a rim of {width}"
        yield Case(about, ([*slabs], width), changes=(0,), extra=(slabs, expected))


def judge(case, result):
    width, (slabs, expected) = case.arguments[1], case.extra
    now = case.arguments[0]
    same = len(now) == len(slabs) and all(a is b for a, b in zip(now, slabs, strict=True))
    require(same, "The list was changed, and not its arrays: write into these.", kind="input_changed")
    for k, (slab, right) in enumerate(zip(slabs, expected, strict=True)):
        for row in np.flatnonzero((slab != right).any(axis=1)):
            if width <= row < len(slab) - width:
                what = "which is its own, was changed"
            elif (right[row] == NOBODY).all():
                what = "which is beyond the plate, was changed"
            elif (slab[row] == NOBODY).any():
                what = "which a neighbour has, was not fetched"
            else:
                what = "which a neighbour has, is another of its rows"
            require(False, f"Row {row} of slab {k}, {what}.")


EXERCISE = HostExercise(
    name="halo_exchange",
    title="Exchange a halo",
    level="intermediate",
    minutes=15,
    teaches="A slab borrows the outermost rows that its neighbour owns, not those that it borrowed itself.",
    pages=("several_gpus",),
    tags=("several GPUs", "halo", "NumPy"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("above[-2 * width : -width]", "above[-width:]", "wrong"),
    Mistake("below[width : 2 * width]", "below[:width]", "wrong"),
    Mistake("below[width : 2 * width]", "below[1:2]", "wrong"),
    Mistake("above[-2 * width : -width]", "above[-2 * width + 1 : -width + 1]", "exception"),
    Mistake("above[-width:] = below[width : 2 * width]", "pass", "wrong"),
    Mistake("below[:width] = above", "slabs[1] = above", "input_changed"),
)
