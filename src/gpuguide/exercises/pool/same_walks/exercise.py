"""Random walks by numbers that follow from walker and step, so that any grid gives the same."""

from gpuguide.exercises.launches import ANY_GRID, blocks_for, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

SPARE_TURNS = 10


def mixed(x):
    """Mix the bits of a whole number."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ x >> shift) * factor % 2**32
    return x ^ x >> 16


def launches():
    for at, (n, blocks, threads) in enumerate(ANY_GRID):
        seed, steps = 2026 + 10_000 * at, 9 if n > 300 else 31
        numbers = ([mixed(seed + i * steps + k) for k in range(steps)] for i in range(n))
        ends = [sum(1 if number % 2 else -1 for number in walk) for walk in numbers]
        arguments = {"seed": seed, "steps": steps, "ends": empty(n, "int32")}
        turns = blocks_for(n, blocks * threads) * (steps + 1) + SPARE_TURNS
        yield Launch(f"n = {n}", blocks, threads, arguments, {"ends": ends}, loop_turns=turns)


EXERCISE = KernelExercise(
    name="same_walks",
    title="The same walks on any grid",
    level="intermediate",
    minutes=15,
    teaches="Random numbers that follow from a counter need no state, and do not depend on the grid.",
    pages=("random_in_kernels",),
    tags=("random numbers", "grid", "loop", "reproducible"),
    launches=launches,
    limits=Limits(),
)

LOOP = "    for i in range(cuda.grid(1), ends.size, cuda.gridsize(1)):\n"
START = "        x = 0\n"
MISTAKES = (
    Mistake("seed + i * steps + k", "seed + i + k", "wrong"),
    Mistake("seed + i * steps + k", "seed + k", "wrong"),
    Mistake("seed + i * steps + k", "seed + cuda.grid(1) * steps + k", "wrong"),
    Mistake(LOOP, "    i = cuda.grid(1)\n    if i < ends.size:\n", "wrong"),
    Mistake(LOOP + START, "    x = 0\n" + LOOP, "wrong"),
    Mistake("range(steps)", "range(1, steps + 1)", "wrong"),
    Mistake("& 1 else", "& 2 else", "wrong"),
    Mistake("ends[i] = x", "ends[i] += x", "uninitialised"),
)
