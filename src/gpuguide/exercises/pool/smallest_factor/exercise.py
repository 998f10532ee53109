"""The smallest factor of each odd number: a sieve whose marks differ, so that it matters who writes last."""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

import numpy as np

from gpuguide.exercises.cases import FAR, in_words
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# How many odd numbers, blocks along x, and threads per block. The last number is composite or prime, a square
# of a step or not.
LAUNCHES = (
    (1, 1, 32),
    (4, 1, 32),
    (5, 1, 32),
    (6, 2, 32),
    (13, 1, 32),
    (24, 1, 64),
    (25, 3, 32),
    (128, 1, 32),
    (685, 6, 16),
    (1105, 1, 160),
    (0, 1, 32),
)


def calls() -> list[Call]:
    """Make launches with a row of blocks for each odd number up to the root of the largest, and more."""
    # Steps of the last but one go beyond 255, which fits into no integer of 8 bits.
    far = replace(_call(FAR, 35, 256), gpu_only=True)
    return [*(_call(*launch) for launch in LAUNCHES), _call(24, 1, 16, rows=140), far]


def _call(n: int, blocks: int, threads: int, rows: int = 0) -> Call:
    numbers = np.arange(1, 2 * n, 2, dtype=np.int32)
    last_row = max(1, (isqrt(2 * n) - 1) // 2)
    grid = (blocks, rows or last_row)
    factors = numbers.copy()
    for step in range(2 * last_row + 1, 1, -2):  # the smallest comes last, and stays
        factors[step * step // 2 :: step] = step
    label = f"n = {n}, {in_words(grid, (threads, 1))}"
    return Call(label, grid, (threads, 1), {"factors": numbers}, {"factors": factors})


EXERCISE = Exercise(
    name="smallest_factor",
    title="The smallest factor",
    level="beginner",
    minutes=20,
    teaches="A sieve walks multiples instead of dividing; an atomic minimum settles who marks a number.",
    task=KernelTask(
        calls=calls,
        limits=Limits(loop_turns=3),
        signature=("int32[::1]",),
        parameters=("factors",),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("primes",),
    tags=("sieve", "atomics", "grid", "primes"),
)
