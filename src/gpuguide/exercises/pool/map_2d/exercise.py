"""The bright places of an image: a grid of two axes over a matrix."""

from random import Random

from gpuguide.exercises.launches import COVERING_2D, array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for (rows, columns), blocks, threads in COVERING_2D:
        random = Random(rows + columns)
        level = random.choice((-1.5, 0.0, 2.5))
        # Few different values, so that many pixels are exactly at the level, and some just below it.
        values = (level, level - 2**-20, *(number / 2 for number in range(-10, 10)))
        image = [random.choice(values) for _ in range(rows * columns)]
        arguments = {
            "image": array(image, shape=(rows, columns)),
            "level": array([level])[0],
            "mask": empty((rows, columns), "uint8"),
        }
        expected = {"mask": [int(value >= level) for value in image]}
        yield Launch(f"an image of {rows} x {columns}", blocks, threads, arguments, expected)


EXERCISE = KernelExercise(
    name="map_2d",
    title="A grid over an image",
    level="beginner",
    minutes=10,
    teaches="A grid can have two axes: x counts the columns, y the rows, and both need a guard.",
    pages=("grids_2d_3d",),
    tags=("grid", "image", "bounds"),
    launches=launches,
    limits=Limits(loop_turns=2),
)

GUARD = "row < image.shape[0] and col < image.shape[1]"
MARK = "mask[row, col] = 1 if image[row, col] >= level else 0"
MISTAKES = (
    Mistake("col, row = cuda.grid(2)", "row, col = cuda.grid(2)", "wrong"),
    Mistake(GUARD, "row < image.shape[1] and col < image.shape[0]", "out_of_range"),
    Mistake(GUARD, "row < image.shape[0]", "out_of_range"),
    Mistake(GUARD, "col < image.shape[1]", "out_of_range"),
    Mistake("mask[row, col]", "mask[col, row]", "out_of_range"),
    Mistake(">= level", "> level", "wrong"),
    Mistake(MARK, "if image[row, col] >= level:\n            mask[row, col] = 1", "wrong"),
    Mistake("cuda.grid(2)", "cuda.threadIdx.x, cuda.threadIdx.y", "wrong"),
)
