"""The smallest factor of each odd number: a sieve whose marks differ, so that it matters who writes last."""

from math import isqrt

from gpuguide.exercises.launches import array
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# How many odd numbers, blocks along x, threads per block, and rows of blocks more than are needed. The last
# number is composite or prime, a square of a step or not.
LAUNCHES = (
    (1, 1, 32, 0),
    (4, 1, 32, 0),
    (5, 1, 32, 0),
    (13, 1, 32, 1),
    (24, 1, 64, 0),
    (25, 3, 32, 0),
    (128, 1, 32, 0),
    (685, 6, 16, 0),
    (24, 1, 16, 137),
    (0, 1, 32, 0),
)


def launches():
    for n, blocks, threads, more in LAUNCHES:
        numbers = range(1, 2 * n, 2)
        rows = max(1, (isqrt(2 * n) - 1) // 2) + more
        expected = [next((d for d in range(3, m + 1, 2) if m % d == 0), m) for m in numbers]
        arguments = {"factors": array(numbers, "int32")}
        yield Launch(f"n = {n}", (blocks, rows), (threads, 1), arguments, {"factors": expected})


EXERCISE = KernelExercise(
    name="smallest_factor",
    title="The smallest factor",
    level="beginner",
    minutes=20,
    teaches="A sieve walks multiples instead of dividing; an atomic minimum settles who marks a number.",
    pages=("primes",),
    tags=("sieve", "atomics", "grid", "primes"),
    launches=launches,
    limits=Limits(loop_turns=4),
)

MISTAKES = (
    Mistake("cuda.atomic.min(factors, i, step)", "factors[i] = step", "race"),
    Mistake("cuda.atomic.min(factors, i, step)", "factors[i] = min(factors[i], step)", "race"),
    Mistake("first = step * step // 2", "first = step * step // 2 + step", "wrong"),
    Mistake("2 * cuda.blockIdx.y + 3", "2 * cuda.blockIdx.y + 1", "wrong"),
    Mistake("step * cuda.gridsize(1)", "step", "limit"),
    Mistake("step * cuda.gridsize(1)", "cuda.gridsize(1)", "wrong"),
    Mistake("first + step * cuda.grid(1)", "first + cuda.grid(1)", "wrong"),
    Mistake("atomic.min", "atomic.max", "wrong"),
)
