"""A hunt: shared memory is taken for zeros."""

from random import Random

from gpuguide.exercises.launches import COVERING, array
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for n, blocks, threads in COVERING:
        random = Random(n)
        grades = random.choices(range(6), (1, 1, 1, 9, 1, 1), k=n)  # often more than an int8 holds
        arguments = {"grades": array(grades, "int32"), "counts": array([0] * 6, "int32")}
        expected = {"counts": [grades.count(grade) for grade in range(6)]}
        yield Launch(f"n = {n}", blocks, threads, arguments, expected)


EXERCISE = KernelExercise(
    name="hunt_leftover",
    title="Hunt: counts out of nowhere",
    level="intermediate",
    minutes=10,
    teaches="Shared memory holds what was there before: write each element before you add to it.",
    pages=("debugging", "atomics"),
    tags=("find the bug", "shared memory", "atomics"),
    launches=launches,
    limits=Limits(loop_turns=12),
)

CLEAR = """\
    for grade in range(cuda.threadIdx.x, 6, cuda.blockDim.x):
        own[grade] = 0  # shared memory holds what the block before has left there
"""
MISTAKES = (
    Mistake(CLEAR, "", "uninitialised"),
    Mistake(CLEAR, CLEAR.replace("own[grade] = 0", "counts[grade] = 0"), "uninitialised"),
    Mistake(CLEAR, "    if cuda.threadIdx.x < 6:\n        own[cuda.threadIdx.x] = 0\n", "uninitialised"),
    Mistake("    cuda.syncthreads()  # all are zero\n", "", "race"),
    Mistake("    cuda.syncthreads()  # the block has counted\n", "", "race"),
    Mistake("cuda.atomic.add(own, grades[i], 1)", "own[grades[i]] += 1", "race"),
    Mistake("cuda.atomic.add(counts, grade, own[grade])", "counts[grade] = own[grade]", "race"),
    Mistake("if i < grades.size:", "if True:", "out_of_range"),
)
