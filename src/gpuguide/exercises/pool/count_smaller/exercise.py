"""The place of a number among sorted ones, by halving: a search with no more steps than needed."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

LEAST, GREATEST = -(2**31), 2**31 - 1
# How many values there are, and how far from their middle they go: with 0 all are equal.
VALUES = ((1, 9), (7, 9), (2, 9), (100, 0), (0, 9), (255, 100), (64, 100), (9, 9))
#: Middles of large numbers, for which neither float32 nor a difference of 32 bits is enough.
CENTRES = (LEAST + 300, GREATEST - 300, 2**24)


def launches():
    for (n, blocks, threads), (n_values, spread) in zip(COVERING, VALUES, strict=True):
        random = Random(n)
        values = [random.randint(-spread, spread) for _ in range(n_values)]
        limits = [random.randint(-spread - 5, spread + 5) for _ in range(n)]
        if n_values == 255:
            values = [value + random.choice(CENTRES) for value in values]
            limits = [limit + random.choice(CENTRES) for limit in limits]
            # Nothing is smaller than the least number there is, nor larger than the greatest.
            values[:2], limits[:2] = (LEAST, GREATEST), (LEAST, GREATEST)
        values.sort()
        arguments = {
            "values": array(values, "int32"),
            "limits": array(limits, "int32"),
            "counts": empty(n, "int32"),
        }
        expected = {"counts": [sum(value < limit for value in values) for limit in limits]}
        yield Launch(f"n = {n}, m = {n_values}", blocks, threads, arguments, expected)


EXERCISE = KernelExercise(
    name="count_smaller",
    title="How many are smaller?",
    level="intermediate",
    minutes=15,
    teaches="In a sorted array a thread finds a place by halving, in as many steps as its length has bits.",
    pages=("sparse_lookup",),
    tags=("search", "loop", "memory"),
    launches=launches,
    limits=Limits(active_threads=0.9, loop_turns=9),
)

MISTAKES = (
    Mistake("values[middle] < limit", "values[middle] <= limit", "wrong"),
    Mistake("low, high = 0, values.size", "low, high = 0, values.size - 1", "wrong"),
    Mistake("low = middle + 1", "low = middle", "endless"),
    Mistake("high = middle  #", "high = middle - 1  #", "wrong"),
    Mistake("(low + high) // 2", "(low + high) / 2", "exception"),
    Mistake("counts[i] = low", "counts[i] = high - 1", "wrong"),
    Mistake("if i < limits.size:", "if i < values.size:", "out_of_range"),
    Mistake("if i < limits.size:", "if True:", "out_of_range"),
)
