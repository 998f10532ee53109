"""Which sums of a GPU are right: rounding is forgiven, a lost element is not."""

from math import ceil, inf, log2, nan

import numpy as np

from gpuguide.exercises.judging import require, shown
from gpuguide.exercises.model import Case, HostExercise, Mistake

EPS = 2.0**-23
MOST = 2.0**24
NAMES = ("result", "reference", "n", "threads", "magnitude", "integers")
# In words, then the arguments. These sums were made in float32, as kernels make them.
RIGHT = (
    ("Positive values", 10049.224609375, 10049.225103378296, 20_000, 256, 10049.225103378296, False),
    ("Signed values", -12.215211868286133, -12.21523666381836, 20_000, 50, 10049.225103378296, False),
    ("Values that cancel out", 7.62939453125e-06, 0.0, 40_000, 128, 20098.45020675659, False),
    ("Values that cancel out to exactly 0", 0.0, 0.0, 1280, 64, 960.0, False),
    ("Small whole numbers", -24.0, -24.0, 20_000, 256, 19990.0, True),
    ("Large whole numbers", -12164781.0, -12164823.0, 20_000, 10, 10039137813.0, True),
    ("Large whole numbers that cancel out", 156.0, 0.0, 40_000, 10, 21074752524.0, True),
    ("2**24 + 1 ones, which float32 cannot hold", MOST, MOST + 1, 2**24 + 1, 1, MOST + 1, True),
    ("No values", 0.0, 0.0, 0, 1, 0.0, False),
)
WRONG = (
    ("The share of one thread of 256 lost", 49_804.7, 50_000.0, 10**5, 256, 50_000.0, False),
    ("Values that cancel out, and a share lost", 195.3, 0.0, 10**5, 256, 50_000.0, False),
    ("Whole numbers of which one was lost", 1233.0, 1234.0, 10**7, 4096, 6.7e6, True),
    ("Whole numbers whose sum has a fraction", 1233.75, 1234.0, 10**4, 64, 6.7e5, True),
    ("2**24 ones of which one was lost", MOST - 1, MOST, 2**24, 2**12, MOST, True),
    ("A kernel that wrote nothing", nan, 50_000.0, 10**5, 256, 50_000.0, False),
    ("Whole numbers, and a kernel that wrote nothing", nan, 12.0, 10**5, 256, 5e4, True),
    ("A sum that overflowed", inf, 50_000.0, 10**5, 256, 50_000.0, False),
    ("A sum with the wrong sign", -50_000.0, 50_000.0, 10**5, 256, 50_000.0, False),
    ("Very small values, and a sum of zero", 0.0, 3e-36, 1000, 32, 3e-36, False),
    ("No values, and a sum that is not zero", 1e-6, 0.0, 0, 1, 0.0, False),
)
# Values and threads: many additions and many levels, one of the two, few values, threads without any.
SIZES = (
    (10**5, 256),
    (400 * 2**20, 2**20),
    (10**6, 10**6),
    (4097, 1),
    (2**24 + 1, 1),
    (1, 1),
    (6, 5),
    (3, 64),
)


def cases():
    for numbers in RIGHT:
        yield case(True, *numbers)
    for n, threads in SIZES:
        # Values of half a step of 1: each addition to it loses one.
        swallowed = min(n, ceil(n / threads) + ceil(log2(threads))) - 1
        exact = 1 + swallowed * EPS / 2
        yield case(True, "Values that a larger one swallows", 1.0, exact, n, threads, exact, False)
    for numbers in WRONG:
        yield case(False, *numbers)
    for n, threads in SIZES:
        off = 12 * EPS * (ceil(n / threads) + ceil(log2(threads))) * n
        about = "Off by twelve times what rounding can do"
        yield case(False, about, n + off, float(n), n, threads, float(n), False)


def case(is_right, about, *numbers):
    values = ", ".join(f"{name} = {value}" for name, value in zip(NAMES, numbers, strict=True))
    return Case(f"{about}: {values}", numbers, extra=is_right)


def judge(case, answer):
    require(isinstance(answer, bool | np.bool_), f"Expected True or False; got {shown(answer)}.")
    what = "A right sum was refused." if case.extra else "A wrong sum was accepted."
    off = abs(case.arguments[0] - case.arguments[1])
    require(answer == case.extra, f"{what} It is off by {off:.3g}.")


EXERCISE = HostExercise(
    name="choose_tolerance",
    title="How wrong is rounding?",
    level="advanced",
    minutes=25,
    teaches="Rounding grows with the chain of additions and the magnitudes; whole numbers show a lost value.",
    pages=("benchmark_well", "kernel_families"),
    tags=("float32", "tolerance", "reduction"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("chain * magnitude", "chain * abs(reference)", "wrong"),
    Mistake("ceil(n / threads) + log2(threads)", "log2(max(n, 2))", "wrong"),
    Mistake("ceil(n / threads) + log2(threads)", "n", "wrong"),
    Mistake("ceil(n / threads) + log2(threads)", "ceil(n / threads)", "wrong"),
    Mistake("    if integers and magnitude <= 2**24:\n", "    if False:\n", "wrong"),
    Mistake("integers and magnitude <= 2**24", "integers", "wrong"),
    Mistake("ROOM * EPS * chain * magnitude", "1e-5 * magnitude", "wrong"),
    Mistake("return abs(result - reference) <= ROOM", "return not abs(result - reference) > ROOM", "wrong"),
)
