"""A hunt: rows are taken to be as long as there are rows."""

from random import Random

from gpuguide.exercises.launches import COVERING_2D, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Shape, blocks and threads: rows that overlap would be harder to read.
TALL = ((3, 2), (1, 1), (4, 4))


def launches():
    for (rows, cols), blocks, threads in (TALL, *COVERING_2D):
        pixels = eighths(Random(rows + cols), 1, 99, rows * cols)
        image = [pixels[cols * row : cols * (row + 1)] for row in range(rows)]
        expected = [pixel for line in image for pixel in reversed(line)]
        arguments = {"pixels": array(pixels), "rows": rows, "cols": cols, "mirrored": empty(rows * cols)}
        yield Launch(f"an image of {rows} x {cols}", blocks, threads, arguments, {"mirrored": expected})


EXERCISE = KernelExercise(
    name="hunt_address",
    title="Hunt: it crashes on tall images",
    level="beginner",
    minutes=5,
    teaches="In a flat image, a row begins at its number times the columns, not times the rows.",
    pages=("debugging", "grids_2d_3d"),
    tags=("find the bug", "bounds", "image"),
    launches=launches,
    limits=Limits(loop_turns=1),
)

MISTAKES = (
    Mistake("row * cols", "row * rows", "out_of_range"),
    Mistake("row * cols", "col * rows", "wrong"),
    Mistake("row * cols", "row * (cols - 1)", "race"),
    Mistake("row < rows and col < cols", "row < cols and col < rows", "race"),
    Mistake("row < rows and col < cols", "row < rows or col < cols", "out_of_range"),
    Mistake("cols - 1 - col", "cols - col", "out_of_range"),
    Mistake("mirrored[start + cols - 1 - col]", "mirrored[start + col]", "wrong"),
)
