"""A histogram: many threads add to one bin at the same time."""

from random import Random

from gpuguide.exercises.launches import COVERING, array
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake
from gpuguide.tracer.findings import count

BINS = (1, 7, 16, 40, 7, 16, 7, 3)
BEYOND = (2**30, -(2**31), 10**9)


def launches():
    for (n, blocks, threads), bins in zip(COVERING, BINS, strict=True):
        random = Random(n)
        values = [random.randint(-2, bins + 1) for _ in range(n)]
        values[::5] = [random.choice((*BEYOND, bins - 1)) for _ in values[::5]]
        expected = {"counts": [values.count(b) for b in range(bins)]}
        arguments = {"values": array(values, "int32"), "counts": array([0] * bins, "int32")}
        yield Launch(f"n = {n}, {count(bins, 'bin')}", blocks, threads, arguments, expected)


EXERCISE = KernelExercise(
    name="histogram",
    title="Counting together",
    level="intermediate",
    minutes=15,
    teaches="Where many threads add to one place, only an atomic addition loses nothing.",
    pages=("atomics", "how_a_gpu_works"),
    tags=("atomics", "race"),
    launches=launches,
    limits=Limits(reads_per_element=1, loop_turns=100),
)

MISTAKES = (
    Mistake("cuda.atomic.add(counts, value, 1)", "counts[value] += 1", "race"),
    Mistake("0 <= value < counts.size", "value < counts.size", "out_of_range"),
    Mistake("0 <= value < counts.size", "0 <= value <= counts.size", "out_of_range"),
    Mistake("if i < values.size:", "if i < counts.size:", "out_of_range"),
    Mistake("if i < values.size:", "if True:", "out_of_range"),
    Mistake("counts, value, 1", "counts, i, 1", "wrong"),
    Mistake("i = cuda.grid(1)", "i = cuda.threadIdx.x", "wrong"),
)
