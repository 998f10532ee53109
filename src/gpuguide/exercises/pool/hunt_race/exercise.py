"""A hunt: a barrier is taken for one of all blocks."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for n, blocks, threads in COVERING:
        x = eighths(Random(n), -999, -1, n)  # negative, so that a zero from nowhere would win
        expected = [max(x[max(i - 2, 0) : i + 3]) for i in range(n)]
        yield Launch(f"n = {n}", blocks, threads, {"x": array(x), "out": empty(n)}, {"out": expected})


EXERCISE = KernelExercise(
    name="hunt_race",
    title="Hunt: other results each time",
    level="intermediate",
    minutes=10,
    teaches="A barrier holds back one block: what other blocks write cannot be read in the same launch.",
    pages=("debugging", "stencil"),
    tags=("find the bug", "race", "barrier"),
    launches=launches,
    limits=Limits(loop_turns=5),
)

MISTAKES = (
    Mistake("largest = max(largest, x[j])", "largest = max(largest, out[j])", "uninitialised"),
    Mistake("max(i - 2, 0)", "i - 2", "out_of_range"),
    Mistake("min(i + 3, x.size)", "i + 3", "out_of_range"),
    Mistake("min(i + 3, x.size)", "min(i + 2, x.size)", "wrong"),
    Mistake("largest = x[i]", "largest = 0", "wrong"),
    Mistake("    if i < x.size:", "    if i < x.size - 2:", "wrong"),
    Mistake("out[i] = largest", "x[i] = largest", "wrong"),
)
