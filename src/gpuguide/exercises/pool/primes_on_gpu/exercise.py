"""Primes: one thread for each number instead of one for all."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gpuguide.exercises.cases import in_words, launches_1d, lengths, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# What a test for primes gets wrong: the smallest numbers, squares of primes, products of two large ones, what
# remainders of a few powers do not tell from a prime, and a prime for which a search up to its half takes too
# many turns. The two last ones, for which it would seem endless, are not in the first launches.
AWKWARD = (
    *(0, 1, 2, 3, 4, 5, 9, 25, 49, 121, 169, 961, 1021, 1763, 4087, 7919, 10201, 16033),
    *(1729, 2047, 252601, 1024651, 1152271, 1373653, 1907851, 2284453),
    *(65538, 65541, 1018081, 4028033, 4875239, 4932841),
    *(65537, 4999999),
)


def calls() -> list[Call]:
    """Make launches over numbers in no order, the awkward ones and the smallest ones among them."""
    n, blocks, threads = 1031, 5, 256
    label = f"n = {n}, {in_words((blocks,), (threads,))}"
    long = Call(label, (blocks,), (threads,), *_build(n, np.random.default_rng(n)))
    # A thread may make thousands of turns for its number, so that there are few numbers in all.
    return [*launches_1d(_build, lengths=lengths(33)), long]


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    awkward = AWKWARD if n >= 64 else AWKWARD[:-2]
    numbers = np.array([*awkward, *(k % 1000 for k in range(n))][:n] if n > 1 else [1] * n, np.int64)
    rng.shuffle(numbers)
    expected = np.array([_is_prime(int(number)) for number in numbers], np.uint8)
    return {"numbers": numbers, "is_prime": poisoned(n, np.uint8)}, {"is_prime": expected}


@cache
def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


EXERCISE = Exercise(
    name="primes_on_gpu",
    title="A thread for each number",
    level="beginner",
    minutes=15,
    teaches="A GPU tests many numbers at the same time, each in a thread of its own.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, loop_turns=8000),
        signature=("int64[::1]", "uint8[::1]"),
        parameters=("numbers", "is_prime"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("first_kernel",),
    tags=("grid", "loop", "primes"),
)
