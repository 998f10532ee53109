"""A hunt: each arm of an if has a barrier of its own."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for n, blocks, threads in COVERING:
        x = eighths(Random(n), -999, 999, n)
        expected = [x[i] - x[i - 1] if i % threads else x[i] for i in range(n)]
        yield Launch(f"n = {n}", blocks, threads, {"x": array(x), "out": empty(n)}, {"out": expected})


EXERCISE = KernelExercise(
    name="hunt_hang",
    title="Hunt: it may never come back",
    level="intermediate",
    minutes=10,
    teaches="A barrier stands outside of every if, so that all threads of the block come to the same one.",
    pages=("debugging", "shared_memory"),
    tags=("find the bug", "barrier", "hang"),
    launches=launches,
    limits=Limits(reads_per_element=1),
)

TAKE = "        part[t] = x[i]\n"
BARRIER = "    cuda.syncthreads()  # one barrier, to which all threads of the block come\n"
MISTAKES = (
    Mistake(BARRIER, f"    {BARRIER}    else:\n    {BARRIER}", "divergent_barrier"),
    Mistake(BARRIER, f"    {BARRIER}", "divergent_barrier"),
    Mistake(BARRIER, "", "race"),
    Mistake(
        f"    if i < x.size:\n{TAKE}",
        f"    if i >= x.size:\n        return\n    {TAKE.strip()}\n",
        "missed_barrier",
    ),
    Mistake(" if t > 0 else part[t]", "", "negative_index"),
    Mistake("part[t] - part[t - 1] if t > 0", "part[t] - part[t - 1] if i > 0", "negative_index"),
    Mistake("part[t] - part[t - 1]", "part[t - 1] - part[t]", "wrong"),
    Mistake("part[t] - part[t - 1]", "x[i] - x[i - 1]", "limit"),
)
