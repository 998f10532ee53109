"""The larger of two values: the last threads of a grid have no element."""

from itertools import cycle
from math import inf
from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Infinite, equal, and nearly equal ones, and some of any magnitude.
PAIRS = ((inf, 1), (-1, -inf), (2, 2), (1 + 2**-20, 1), (1, 1 + 2**-20), (1e-30, 3e-30), (-1e30, -3e30))


def launches():
    for n, blocks, threads in COVERING:
        random = Random(n)
        a, b = (array(eighths(random, -99, 99, n)) for _ in range(2))
        for i, pair in zip(range(2, n, 5), cycle(PAIRS), strict=False):
            a[i], b[i] = pair
        expected = {"out": [*map(max, a, b)]}
        yield Launch(f"n = {n}", blocks, threads, {"a": a, "b": b, "out": empty(n)}, expected)


EXERCISE = KernelExercise(
    name="guard",
    title="Threads without an element",
    level="beginner",
    minutes=5,
    teaches="A grid is rounded up to whole blocks, so a thread must check that its element exists.",
    pages=("first_kernel",),
    tags=("grid", "block", "bounds"),
    launches=launches,
    limits=Limits(loop_turns=1),
)

MISTAKES = (
    Mistake("i < out.size", "i <= out.size", "out_of_range"),
    Mistake("i < out.size", "i < out.size - 1", "wrong"),
    Mistake("i < out.size", "cuda.threadIdx.x < out.size", "out_of_range"),
    Mistake("i = cuda.grid(1)", "i = cuda.threadIdx.x", "wrong"),
    Mistake("max(a[i], b[i])", "min(a[i], b[i])", "wrong"),
    Mistake("out[i] = max(a[i], b[i])", "a[i] = max(a[i], b[i])", "input_changed"),
    Mistake("    if i < out.size:", "    for i in range(out.size):", "limit"),
)
