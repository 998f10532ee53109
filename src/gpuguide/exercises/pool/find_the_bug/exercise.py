"""Find the bug: in a loop over shared memory, a second barrier is missing."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake
from gpuguide.tracer.findings import count

ROUNDS = (2, 1, 2, 3, 0, 4, 2, 1)


def one_round(part):
    return [max(part[max(i - 1, 0) : i + 2]) for i in range(len(part))]


def launches():
    for (n, blocks, threads), rounds in zip(COVERING, ROUNDS, strict=True):
        x = eighths(Random(n), -999, -1, n)  # negative, so that a zero from nowhere would win
        parts = [x[start : start + threads] for start in range(0, n, threads)]
        for _ in range(rounds):
            parts = list(map(one_round, parts))
        expected = {"out": [value for part in parts for value in part]}
        arguments = {"x": array(x), "out": empty(n), "rounds": rounds}
        about = f"n = {n}, {count(rounds, 'round')}"
        yield Launch(about, blocks, threads, arguments, expected, loop_turns=max(rounds, 1))


EXERCISE = KernelExercise(
    name="find_the_bug",
    title="Find the bug",
    level="intermediate",
    minutes=10,
    teaches="In a loop over shared memory, threads wait after all have read, and after all have written.",
    pages=("shared_memory", "how_a_gpu_works"),
    tags=("barrier", "shared memory", "race"),
    launches=launches,
    limits=Limits(reads_per_element=1),
)

READ = "        cuda.syncthreads()  # all have read what they need\n"
WRITTEN = "        cuda.syncthreads()  # all have written before the next round reads\n"
MISTAKES = (
    Mistake(WRITTEN, "", "race"),
    Mistake(READ, "", "race"),
    Mistake(WRITTEN, WRITTEN[4:], "race"),
    Mistake(WRITTEN, f"    {WRITTEN}", "divergent_barrier"),
    Mistake("    cuda.syncthreads()  # all elements are there\n", "", "race"),
    Mistake("min(t + 1, last)", "min(t + 1, cuda.blockDim.x - 1)", "uninitialised"),
    Mistake("max(t - 1, 0)", "t - 1", "negative_index"),
    Mistake("range(rounds)", "range(rounds - 1)", "wrong"),
)
