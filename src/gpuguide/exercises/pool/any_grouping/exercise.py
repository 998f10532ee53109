"""The four parts of a reduction, which must give one answer in whatever order they are applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, shown

# The limit and the readings.
CASES: tuple[tuple[float, list[int]], ...] = (
    (0, [6]),
    (0, [2, 4]),
    (0, [2, 4, 9]),
    (0, [4, 4, 1]),
    # Sums that are too large for 16 bits, for the digits of float32, and for 32 bits.
    (0, [20_000, 20_000]),
    (0, [16_777_216, 1]),
    (0, [2_000_000_000, 1_000_000_000]),
    (5, [1, 8, 5, 10, 3]),
    (5, [5, 5]),
    (3, []),
    (-4, [-3, -2, -9]),
    (-4, [3, -3]),
    (0.5, [1, 0, 1, 1]),
    (0.5, [0]),
    (-2.5, [-2, 4]),
    (-1_000_000, [-50_000, 4]),
    # float32 holds the reading, and the same number for the limit.
    (16_777_219, [16_777_220]),
)
_N_RANDOM, _LONGEST, _ORDERS, _MOST_SHOWN = 20, 40, 6, 3
_PARTS = {"map_one": "first", "reduce_two": "second", "identity": "third", "finish": "last"}
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
# Reduced by the same four parts at the same time.
_OTHERS = (50, -50, 7)
# Four more parts are made for a limit that is so much higher, before they are used.
_FURTHER = 100


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Reduce lists in several orders, and compare the answers with the mean."""
    for number, (limit, readings) in enumerate((*CASES, *_random_cases())):
        made: list[Any] = []

        @wraps(function)  # so that an exception's line is the reader's
        def make(limit: float = limit, made: list[Any] = made) -> None:
            made.append(function(limit))
            function(limit + _FURTHER)

        _, finding = attempt(make, f"With limit = {limit}")
        finding = finding or _misfit(limit, made[0])
        orders = (_finding(function, made[0], limit, readings, (number, i)) for i in range(_ORDERS))
        if finding := finding or next(filter(None, orders), None):
            yield finding
            return


def _misfit(limit: float, parts: Any) -> Finding | None:
    if not isinstance(parts, tuple | list) or len(parts) != len(_PARTS):
        wanted = f"four things, ({', '.join(_PARTS)})"
        got = f"{len(parts)} of them" if isinstance(parts, tuple | list) else shown(parts)
        return Finding("wrong", f"With limit = {limit} it must return {wanted}; got {got}.")
    for (name, place), part in zip(_PARTS.items(), parts, strict=True):
        if name != "identity" and not callable(part):
            message = f"{name}, the {place} of the four, must be a function; got {shown(part)}."
            return Finding("wrong", message)
    return None


def _finding(
    function: Callable[..., Any], parts: Any, limit: float, readings: list[int], seed: tuple[int, int]
) -> Finding | None:
    above = [x for x in readings if x > limit]
    expected = sum(above) / len(above) if above else limit
    case = f"For the readings {readings} and limit = {limit},"
    calls, called = [], list[str]()

    @wraps(function)
    def reduction() -> Any:
        answer, call = _reduced(parts, readings, seed, called=called)
        calls.append(call)
        return answer

    answer, finding = attempt(reduction, case)
    if finding is None and _is_near(answer, expected):
        return None
    if finding is not None and finding.kind == "endless":  # four more parts would not end, either
        return replace(finding, message=finding.message.replace("the function", called[-1]))
    if _knows_its_own(function, limit, readings, seed, expected):
        message = (
            f"{case} the answer is right if the parts get the identity itself and what they returned, and "
            "not if they get copies, as on a GPU: ask what these hold, and not which object they are."
        )
        return replace(finding or Finding("wrong", message), message=message)
    if finding is not None:
        return finding
    how = calls[0]
    if len(readings) > _MOST_SHOWN:
        ways = "from the first to the last", "in pairs"
        way = ways[seed[1]] if seed[1] < 2 else "in another grouping and with the identity mixed in"
        how = f"put together {way}, the mean"
    message = f"{case} {how} must be {expected}; got {shown(answer)}."
    return Finding("wrong", message + _remembered(function, limit, readings, seed, expected))


def _remembered(
    function: Callable[..., Any], limit: float, readings: list[int], seed: tuple[int, int], expected: float
) -> str:
    """Say what the parts must have kept, if four new ones give the right answer."""

    def is_right(others: tuple[int, ...]) -> bool:
        return _is_near(_reduced(function(limit), readings, seed, others)[0], expected)

    if seed[1] == 0 and is_right(_OTHERS):
        return (
            " Four new parts give the right answer. After these, others were made for limit = "
            f"{limit + _FURTHER}: let each part use the limit that it was made for."
        )
    if is_right(()):
        return (
            " Four new parts give the right answer for these readings alone. These parts had other readings "
            "before, or at the same time: let each part use nothing but the limit and what it is given."
        )
    return ""


def _knows_its_own(
    function: Callable[..., Any], limit: float, readings: list[int], seed: tuple[int, int], expected: float
) -> bool:
    """Say whether four new parts give the right answer, unless they get copies."""

    def is_right(copy: Callable[[Any], Any]) -> bool:
        with suppress(Exception):
            return _is_near(_reduced(function(limit), readings, seed, (), copy)[0], expected)
        return False

    return is_right(lambda value: value) and not is_right(deepcopy)


def _reduced(
    parts: Any,
    readings: list[int],
    seed: tuple[int, int],
    others: tuple[int, ...] = _OTHERS,
    copy: Callable[[Any], Any] = deepcopy,
    called: list[str] | None = None,
) -> tuple[Any, str]:
    """Apply the parts, from the third order on with the identity among the readings.

    Return the answer and the calls that led to it; note the names of the parts that are called. As on a GPU,
    each part gets copies.
    """
    noted = [] if called is None else called
    map_one, reduce_two, _, finish = (
        _called_with(copy, part, name, noted) for name, part in zip(_PARTS, parts, strict=True)
    )
    order, rng = seed[1], np.random.default_rng(seed)
    values = [(map_one(x), f"map_one({x})") for x in readings]
    beside = [map_one(x) for x in others]
    if order > 1 or not values:
        for place in rng.integers(0, len(values) + 1, 1 + order // 2):
            values.insert(int(place), (parts[2], "identity"))

    def together(a: tuple[Any, str], b: tuple[Any, str]) -> tuple[Any, str]:
        if len(beside) > 1:
            beside[:2] = [reduce_two(*beside[:2])]
        return reduce_two(a[0], b[0]), f"reduce_two({a[1]}, {b[1]})"

    while len(values) > 1:
        if order == 0:
            at = 0
        elif order == 1:
            pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
            values = [together(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
            continue
        else:
            at = int(rng.integers(0, len(values) - 1))
        left, right = values[at : at + 2]
        values[at : at + 2] = [together(right, left) if order > 3 else together(left, right)]
    for value in beside:
        # Where it raises, a case of its own does, too, and names the readings.
        with suppress(Exception):
            finish(value)
    return finish(values[0][0]), f"finish({values[0][1]})"


def _called_with(
    copy: Callable[[Any], Any], part: Callable[..., Any], name: str, noted: list[str]
) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        noted.append(name)
        return part(*map(copy, given))  # two of one object are two copies

    return call


def _is_near(answer: Any, expected: float) -> bool:
    if isinstance(answer, bool) or not isinstance(answer, _NUMBERS):
        return False
    return bool(abs(float(answer) - expected) <= 1e-9 * max(1.0, abs(expected)))


def _random_cases() -> Iterator[tuple[float, list[int]]]:
    rng = np.random.default_rng(0)
    for n in rng.integers(2, _LONGEST + 1, _N_RANDOM):
        yield int(rng.integers(-5, 5)), [int(x) for x in rng.integers(-9, 30, n)]


EXERCISE = Exercise(
    name="any_grouping",
    title="A mean in any grouping",
    level="intermediate",
    minutes=15,
    teaches="What a reduction hands on must say enough for its parts to be put together in any order.",
    task=FunctionTask(judge=judge, parameters=("limit",)),
    lanes=("simulator",),
    pages=("kernel_families",),
    tags=("reduction", "CuPy"),
)
