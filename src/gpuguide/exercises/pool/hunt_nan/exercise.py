"""A hunt: a NaN is compared with NaN."""

from math import inf, isnan, nan
from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Mistake

VALUES = (3, 7, 2, 5, 1, 4, 2, 6)


def launches():
    for (rows, blocks, threads), columns in zip(COVERING, VALUES, strict=True):
        random = Random(rows)
        x = [eighths(random, -99, 99, columns) for _ in range(rows)]
        for row in x[::3]:
            row[random.randrange(columns)] = nan
        for row in x[1::9]:
            row[random.randrange(columns)] = random.choice((inf, -inf))
        sums = [sum(value for value in row if not isnan(value)) for row in x]
        values = [value for row in x for value in row]
        arguments = {"x": array(values, shape=(rows, columns)), "sums": empty(rows)}
        yield Launch(f"{rows} x {columns} values", blocks, threads, arguments, {"sums": sums})


EXERCISE = KernelExercise(
    name="hunt_nan",
    title="Hunt: one NaN spoils a sum",
    level="beginner",
    minutes=5,
    teaches="NaN is equal to nothing, not even to itself, so ask for it by isnan.",
    pages=("debugging",),
    tags=("find the bug", "NaN"),
    launches=launches,
)

TEST = "if not isnan(value):"
MISTAKES = (
    Mistake(TEST, "if True:", "wrong"),
    Mistake(TEST, "if isnan(value):", "wrong"),
    Mistake(TEST, "if value != value:", "wrong"),
    Mistake(TEST, "if value < 1e30:", "wrong"),
    Mistake(TEST, "if value:", "wrong"),
    Mistake("                total += value", "                total = value", "wrong"),
    Mistake("if row < x.shape[0]:", "if True:", "out_of_range"),
)
