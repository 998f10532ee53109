"""Elements of a block move one place on: read, wait for all others, write."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for n, blocks, threads in COVERING:
        x = eighths(Random(n), -999, 999, n)
        if n > 32:  # no number is free to mark a thread without an element, and differences are rounded
            x[n // 2 - 2 : n // 2 + 2] = 0, -1, 2.0**80, -(2.0**80)
        parts = [x[start : start + threads] for start in range(0, n, threads)]
        expected = [value for part in parts for value in (part[-1], *part[:-1])]
        yield Launch(f"n = {n}", blocks, threads, {"x": array(x)}, {"x": expected})


EXERCISE = KernelExercise(
    name="barrier",
    title="Musical chairs",
    level="intermediate",
    minutes=15,
    teaches="A barrier separates reading from writing, and every thread of the block must reach it.",
    pages=("shared_memory", "segmented_sieve"),
    tags=("barrier", "block", "race"),
    launches=launches,
    limits=Limits(loop_turns=2),
)

TAKE = """\
    if i < x.size:
        value = x[i]
"""
MISTAKES = (
    Mistake("    cuda.syncthreads()\n", "", "race"),
    Mistake("cuda.syncthreads()", "cuda.syncthreads", "race"),
    Mistake(TAKE, "    if i >= x.size:\n        return\n    value = x[i]\n", "missed_barrier"),
    Mistake(TAKE, f"{TAKE}        cuda.syncthreads()\n", "divergent_barrier"),
    Mistake("(cuda.threadIdx.x + 1) % length", "(cuda.threadIdx.x + 1) % cuda.blockDim.x", "out_of_range"),
    Mistake("x[start + (cuda.threadIdx.x + 1) % length]", "x[(i + 1) % x.size]", "race"),
    Mistake("(cuda.threadIdx.x + 1) % length", "(cuda.threadIdx.x - 1) % length", "wrong"),
    Mistake("min(cuda.blockDim.x, x.size - start)", "cuda.blockDim.x", "out_of_range"),
)
