"""Which sums of a GPU are right: rounding is forgiven, a lost element is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, count, shown

EPS = float(np.finfo(np.float32).eps)
Vector = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Case:
    """A sum of a GPU, and whether it is right.

    Attributes
    ----------
    title : str
        In words.
    is_right : bool
        What the function must say.
    result, reference : float
        The sum as float32 made it, and the exact one.
    n, threads : int
        How many values, and how many threads added up a share each.
    magnitude : float
        Sum of the absolute values.
    integers : bool
        Whether all values are whole numbers.
    """

    title: str
    is_right: bool
    result: float
    reference: float
    n: int
    threads: int
    magnitude: float
    integers: bool = False


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Test the function on right sums and on wrong ones."""
    for case in _cases():
        text = f"For {case.title}"
        values = (case.result, case.reference, case.n, case.threads, case.magnitude, case.integers)
        answer, finding = attempt(function, text, *values)
        if finding is None and not isinstance(answer, bool | np.bool_):
            finding = Finding("wrong", f"{text} the answer must be True or False; got {shown(answer)}.")
        if finding is None and bool(answer) != case.is_right:
            finding = _misjudged(case)
        if finding is not None:
            yield finding
            return


@cache
def _cases() -> tuple[Case, ...]:
    return (*right_sums(), *wrong_sums())


def right_sums() -> Iterator[Case]:
    """Make sums in float32, each in an order that some kernel adds in."""
    rng = np.random.default_rng(7)
    signed = (rng.integers(-(2**20), 2**20, 100_000) / 2**20).astype(np.float32)
    positive = np.abs(signed)
    for threads in (256, 100_000, 50):
        yield _summed(f"signed values in {threads} threads", signed, threads)
        yield _summed(f"positive values in {threads} threads", positive, threads)
    yield _summed("values in ascending order", np.sort(positive), 500)
    yield _summed("values that cancel out", np.concatenate([signed, -signed[::-1]]), 128)
    yield _summed(
        "values that cancel out to exactly 0", np.tile(np.array([0.75, -0.75], np.float32), 640), 64
    )
    yield _summed("very small values", signed * np.float32(2.0**-80), 1000)
    yield _summed("very large values", signed * np.float32(2.0**80), 1000)
    yield _summed("one thread whose sum swallows each value", _swallowed(4097, 1), 1)
    yield _summed("a tree that swallows a value at each level", _swallowed(2**20, 2**20), 2**20)
    yield _summed("a thread and a tree that both swallow values", _swallowed(2048, 256), 256)
    yield _summed("uneven shares of which values are swallowed", _swallowed(6, 5), 5)
    few = np.array([1, 2.0**-24, 2.0**-24], np.float32)
    yield _summed("three values of which two are swallowed, and threads without any", few, 64)
    yield Case("one thread whose sum swallows 2**24 values", True, 1.0, 2.0, 2**24 + 1, 1, 2.0)
    lost = 1 + 30 * 2.0**-24
    yield Case("a tree of 30 levels that swallows a value at each", True, 1.0, lost, 2**30, 2**30, lost)
    yield _summed("whole numbers of -1, 0 and 1", rng.integers(-1, 2, 65_536).astype(np.float32), 256, True)
    many = rng.integers(-1000, 1000, 100_000).astype(np.float32)
    yield _summed("whole numbers too large to be added exactly", many, 10, True)
    large = rng.integers(-(2**20), 2**20, 50_000).astype(np.float32)
    cancelling = np.concatenate([large, -large[::-1]])
    yield _summed("large whole numbers that cancel out", cancelling, 10, True)
    beyond = 2.0**24
    yield Case(
        "2**24 + 1 ones, which float32 cannot hold", True, beyond, beyond + 1, 2**24 + 1, 1, beyond + 1, True
    )
    yield Case("no values", True, 0.0, 0.0, 0, 1, 0.0)


def wrong_sums() -> Iterator[Case]:
    """Make sums that a mistake changed, by little or by much."""
    ten_million, limit = 10**7, 2.0**24
    yield Case(
        "ten million whole numbers of which one was lost",
        False,
        1233.0,
        1234.0,
        ten_million,
        4096,
        6.7e6,
        True,
    )
    yield Case(
        "whole numbers whose sum came out with a fraction", False, 1233.75, 1234.0, 10**4, 64, 6.7e5, True
    )
    yield Case(
        "ten million whole numbers of which one came twice", False, -55.0, -56.0, ten_million, 1, 6.7e6, True
    )
    yield Case(
        "whole numbers of which one, 4096, was lost", False, 1232.0, 5328.0, ten_million, 64, 6.7e6, True
    )
    yield Case("2**24 ones of which one was lost", False, limit - 1, limit, 2**24, 2**12, limit, True)
    yield Case("a kernel that wrote nothing", False, math.nan, 50_000.0, 10**5, 256, 50_000.0)
    yield Case("whole numbers and a kernel that wrote nothing", False, math.nan, 12.0, 10**5, 256, 5e4, True)
    yield Case("a sum that overflowed", False, math.inf, 50_000.0, 10**5, 256, 50_000.0)
    yield Case("a sum with the wrong sign", False, -50_000.0, 50_000.0, 10**5, 256, 50_000.0)
    share = 50_000.0 / 256
    yield Case("the share of one thread lost", False, 50_000.0 - share, 50_000.0, 10**5, 256, 50_000.0)
    yield Case("values that cancel out, and a share lost", False, share, 0.0, 10**5, 256, 50_000.0)
    yield Case("very small values and a sum of zero", False, 0.0, 3e-36, 1000, 32, 3e-36)
    yield Case("no values and a sum that is not zero", False, 1e-6, 0.0, 0, 1, 0.0)
    # Many additions and many levels, only one of the two, few values, uneven shares.
    many = ((10**5, 256), (400 * 2**20, 2**20), (10**6, 10**6), (4096, 1))
    for n, threads in (*many, (1, 1), (7, 5)):
        rounding = EPS * (-(-n // threads) + math.ceil(math.log2(threads))) * n
        title = f"{n} values in {threads} threads, off by twelve times what rounding can do"
        yield Case(title, False, n + 12 * rounding, n, n, threads, n)


def _summed(title: str, x: Vector, threads: int, integers: bool = False) -> Case:
    """Sum as a kernel does: one share per thread, value after value, then a tree of neighbours."""
    shares = np.zeros((-(-x.size // threads), threads), np.float32)
    shares.reshape(-1)[: x.size] = x
    partial = np.zeros(threads, np.float32)
    for row in shares:
        partial += row
    while partial.size > 1:
        partial = np.append(partial, np.zeros(partial.size % 2, np.float32))
        partial = partial[::2] + partial[1::2]
    exact, magnitude = math.fsum(x.tolist()), math.fsum(np.abs(x).tolist())
    return Case(title, True, float(partial[0]), exact, x.size, threads, magnitude, integers)


def _swallowed(n: int, threads: int) -> Vector:
    """Return 1 and values of half a step of it: each addition to it rounds down by as much as possible.

    The first thread loses one at each turn, and the tree of neighbours one at each level.
    """
    x = np.zeros(n, np.float32)
    x[::threads] = 2.0**-24
    x[2 ** np.arange((threads - 1).bit_length())] = 2.0**-24
    x[0] = 1
    return x


def _misjudged(case: Case) -> Finding:
    off = abs(case.result - case.reference)
    what = "a right sum was refused" if case.is_right else "a wrong sum was accepted"
    serial = -(-case.n // case.threads)
    return Finding(
        "wrong",
        f"{what.capitalize()}: {case.title}. The result is {case.result!r}, the reference "
        f"{case.reference!r}, so it is off by {off:.3g}. n = {case.n}, threads = "
        f"{case.threads}, so {count(serial, 'value')} per thread; magnitude = {case.magnitude:.6g}, "
        f"integers = {case.integers}.",
    )


EXERCISE = Exercise(
    name="choose_tolerance",
    title="How wrong is rounding?",
    level="advanced",
    minutes=25,
    teaches="Rounding grows with the chain of additions and the magnitudes; whole numbers show a lost value.",
    task=FunctionTask(
        judge=judge,
        parameters=("result", "reference", "n", "threads", "magnitude", "integers"),
    ),
    lanes=("simulator",),
    pages=("precision", "benchmark_well", "shared_memory"),
    tags=("float32", "tolerance", "reduction"),
)
