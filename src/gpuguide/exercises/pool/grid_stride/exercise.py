"""A multiple added to an array: a grid of any size, whose threads step by the whole grid."""

from random import Random

from gpuguide.exercises.launches import ANY_GRID, array, blocks_for, eighths
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

SPARE_TURNS = 10


def launches():
    for n, blocks, threads in ANY_GRID:
        random = Random(n)
        factor, *_ = array(eighths(random, 2, 8, 1))
        x, y = eighths(random, 1, 998, n), eighths(random, 1, 998, n)
        arguments = {"factor": factor, "x": array(x), "y": array(y)}
        expected = {"y": [before + factor * value for before, value in zip(y, x, strict=True)]}
        turns = blocks_for(n, blocks * threads) + SPARE_TURNS
        yield Launch(f"n = {n}", blocks, threads, arguments, expected, loop_turns=turns)


EXERCISE = KernelExercise(
    name="grid_stride",
    title="Any grid will do",
    level="intermediate",
    minutes=15,
    teaches="A loop in steps of the whole grid handles any length and keeps a warp's accesses together.",
    pages=("first_kernel", "launch_sizes"),
    tags=("grid", "loop", "coalesced access"),
    launches=launches,
    limits=Limits(sectors_per_request=4),
)

LOOP = "    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n"
MISTAKES = (
    Mistake("cuda.gridsize(1)", "cuda.blockDim.x", "race"),
    Mistake("cuda.gridsize(1)", "cuda.gridDim.x", "race"),
    Mistake(", cuda.gridsize(1)", "", "race"),
    Mistake("cuda.grid(1)", "cuda.threadIdx.x", "race"),
    Mistake(LOOP, "    i = cuda.grid(1)\n    if i < x.size:\n", "wrong"),
    Mistake("y[i] += factor * x[i]", "y[i] = factor * x[i]", "wrong"),
    Mistake("x.size", "x.size - 1", "wrong"),
    Mistake("x.size", "x.size + 1", "out_of_range"),
)
