"""Running totals within each block, in rounds that double the distance."""

from itertools import accumulate
from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

LAUNCHES = (*COVERING[:6], (193, 4, 96), (0, 1, 32))
LARGE = 2.0**80


def launches():
    for n, blocks, threads in LAUNCHES:
        x = eighths(Random(n), -99, 99, n)
        if n > 64:  # nothing shows beside these, and a sum from which one is taken off has lost its digits
            x[threads - 1 :: 2 * threads] = [LARGE for _ in x[threads - 1 :: 2 * threads]]
        totals = [total for start in range(0, n, threads) for total in accumulate(x[start : start + threads])]
        arguments = {"x": array(x), "totals": empty(n)}
        yield Launch(f"n = {n}", blocks, threads, arguments, {"totals": totals})


EXERCISE = KernelExercise(
    name="prefix_sum",
    title="Running totals",
    level="intermediate",
    minutes=25,
    teaches="Sums of all that came before take as many rounds as the length has bits.",
    pages=("scan", "kernel_families", "how_a_gpu_works"),
    tags=("shared memory", "barrier", "scan"),
    launches=launches,
    limits=Limits(reads_per_block=1, loop_turns=16, float64=False),
)

MISTAKES = (
    Mistake("        cuda.syncthreads()  # what the last round stored is there for all\n", "", "race"),
    Mistake("        cuda.syncthreads()  # all have read before anybody adds\n", "", "race"),
    Mistake(" if t >= distance else float32(0)", "", "negative_index"),
    Mistake("i = cuda.grid(1)", "i = cuda.grid(1)\n    if i >= x.size:\n        return", "missed_barrier"),
    Mistake("x[i] if i < x.size else float32(0)", "x[i]", "out_of_range"),
    Mistake("distance *= 2", "distance += 1", "wrong"),
    Mistake("part[t] += before", "part[t] = before", "wrong"),
    Mistake("i = cuda.grid(1)", "i = t", "wrong"),
)
