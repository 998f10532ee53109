"""An offset per column: which axis the threads of a warp walk along."""

from random import Random

from gpuguide.exercises.launches import array, blocks_for, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Rows, columns, and threads per block along x and y. The grid covers the longer side along both axes.
LAUNCHES = (
    (1, 1, 32, 1),
    (1, 33, 32, 1),
    (31, 1, 32, 8),
    (40, 7, 64, 4),
    (9, 30, 16, 16),
    (3, 70, 128, 2),
    (0, 5, 32, 8),
)


def launches():
    for rows, columns, *threads in LAUNCHES:
        random = Random(rows + columns)
        image = eighths(random, -999, 999, rows * columns)
        if len(image) > 200:  # a zero counts as any other, and three decimals are too few
            image[70:72] = 0.0, 2.0**-10
        offset = eighths(random, 300, 499, columns)
        arguments = {
            "image": array(image, shape=(rows, columns)),
            "offset": array(offset),
            "out": empty((rows, columns)),
        }
        expected = [value - offset[place % columns] for place, value in enumerate(image)]
        blocks = tuple(blocks_for(max(rows, columns), along) for along in threads)
        yield Launch(f"an image of {rows} x {columns}", blocks, tuple(threads), arguments, {"out": expected})


EXERCISE = KernelExercise(
    name="axis_order",
    title="Which axis is x?",
    level="beginner",
    minutes=10,
    teaches="Threads that differ in x share a warp, so x must count what lies side by side in memory.",
    pages=("grids_2d_3d",),
    tags=("grid", "coalesced access", "image"),
    launches=launches,
    limits=Limits(sectors_per_request=8, loop_turns=2),
)

LINE = "out[row, col] = image[row, col] - offset[col]"
MISTAKES = (
    Mistake("col, row = cuda.grid(2)", "row, col = cuda.grid(2)", "uncoalesced"),
    Mistake(LINE, "out[col, row] = image[col, row] - offset[row]", "out_of_range"),
    Mistake(" and col < image.shape[1]", "", "out_of_range"),
    Mistake("row < image.shape[0] and ", "", "out_of_range"),
    Mistake("offset[col]", "offset[row]", "wrong"),
    Mistake(LINE, "image[row, col] -= offset[col]", "input_changed"),
)
