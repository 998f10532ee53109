"""The largest of three neighbours: what to read where a neighbour does not exist."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

LOWEST = -(2.0**128 - 2.0**104)


def launches():
    for n, blocks, threads in COVERING:
        random = Random(n + 5)
        # Negative, so that a zero from nowhere would win, and of all magnitudes.
        x = [value * 10 ** random.randint(0, 5) for value in eighths(random, -9, -1, n)]
        if n > 64:  # neither zero nor a low number is a mark for a neighbour that does not exist
            x[:3], x[-2:] = (LOWEST, LOWEST, 0.0), (LOWEST, LOWEST)
        expected = [max(x[max(i - 1, 0) : i + 2]) for i in range(n)]
        yield Launch(f"n = {n}", blocks, threads, {"x": array(x), "out": empty(n)}, {"out": expected})


EXERCISE = KernelExercise(
    name="halo_read",
    title="Neighbours at the ends",
    level="beginner",
    minutes=10,
    teaches="A thread that reads its neighbours must decide what to read where there is none.",
    pages=("first_kernel",),
    tags=("stencil", "bounds"),
    launches=launches,
    limits=Limits(reads_per_element=3, loop_turns=4),
)

MISTAKES = (
    Mistake("max(i - 1, 0)", "i - 1", "negative_index"),
    Mistake("min(i + 1, x.size - 1)", "i + 1", "out_of_range"),
    Mistake("min(i + 1, x.size - 1)", "min(i + 1, x.size)", "out_of_range"),
    Mistake("x[max(i - 1, 0)]", "x[i - 1] if i > 0 else 0", "wrong"),
    Mistake("x[max(i - 1, 0)]", "x[(i - 1) % x.size]", "wrong"),
    Mistake("if i < x.size:", "if 0 < i < x.size - 1:", "wrong"),
    Mistake("if i < x.size:", "if True:", "out_of_range"),
    Mistake("max(left, x[i], right)", "max(left, right)", "wrong"),
)
