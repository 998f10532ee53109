"""A hunt: sums of bytes wrap around."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

MORE = (20, 100, -60, 200, 0, -300, 300, 1)


def launches():
    for (n, blocks, threads), more in zip(COVERING, MORE, strict=True):
        random = Random(n)
        image = [random.choice((0, 1, 55, 60, 128, 155, 156, 235, 254, 255)) for _ in range(n)]
        by = array([more], "int32")[0]
        arguments = {"image": array(image, "uint8"), "more": by, "out": empty(n, "uint8")}
        expected = {"out": [min(max(value + more, 0), 255) for value in image]}
        yield Launch(f"n = {n}, brighter by {more}", blocks, threads, arguments, expected)


EXERCISE = KernelExercise(
    name="hunt_overflow",
    title="Hunt: bright turns dark",
    level="beginner",
    minutes=5,
    teaches="An integer that does not fit wraps around where it is stored, without an error.",
    pages=("debugging", "numba_types"),
    tags=("find the bug", "dtype", "image"),
    launches=launches,
    limits=Limits(loop_turns=1),
)

FIT = "min(max(image[i] + more, 0), 255)"
MISTAKES = (
    Mistake(FIT, "image[i] + more", "wrong"),
    Mistake(FIT, "min(image[i] + more, 255)", "wrong"),
    Mistake(FIT, "max(image[i] + more, 0)", "wrong"),
    Mistake(FIT, "(image[i] + more) % 256", "wrong"),
    Mistake(FIT, "min(max(image[i] + more, 0), 256)", "wrong"),
    Mistake(FIT, "min(image[i], 255 - more) + more", "wrong"),
    Mistake("if i < image.size:", "if True:", "out_of_range"),
)
