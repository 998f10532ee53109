"""Two alternating recipes: threads of a warp that take different branches wait for each other."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for n, blocks, threads in COVERING:
        random = Random(n)
        x = [random.randint(0, 999) for _ in range(n)]
        expected = {"out": [recipe(i, v) for i, v in enumerate(x)]}
        arguments = {"x": array(x, "int32"), "out": empty(n, "int32")}
        yield Launch(f"n = {n}", blocks, threads, arguments, expected)


def recipe(i, v):
    for _ in range(8):
        v = ((3 * v if i % 2 == 0 else v * v) + 1) % 1000
    return v


EXERCISE = KernelExercise(
    name="divergence",
    title="Warps that agree",
    level="intermediate",
    minutes=15,
    teaches="All threads of a warp walk through each branch that one of them takes: sort the work by branch.",
    pages=("divergence",),
    tags=("warp", "branch"),
    launches=launches,
    limits=Limits(loop_turns=24, divergent_branches=0.1),
)

MISTAKES = (
    Mistake("n_even = (x.size + 1) // 2", "n_even = x.size // 2", "out_of_range"),
    Mistake("i = 2 * (k - n_even) + 1", "i = 2 * k + 1", "out_of_range"),
    Mistake("i = 2 * (k - n_even) + 1", "i = 2 * (k - n_even)", "race"),
    Mistake("i = 2 * k\n", "i = k\n", "race"),
    Mistake("elif k < x.size:", "else:", "out_of_range"),
    Mistake("range(8):\n            v = (v * v", "range(7):\n            v = (v * v", "wrong"),
    Mistake("(3 * v + 1) % 1000", "3 * v + 1 % 1000", "wrong"),
)
