"""Two numbers that describe how long copies take: their latency, and the rate at which bytes cross."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, is_near, is_seconds, seconds, shown

_NOISE, _CLOSE, _N_SHOWN = 0.02, 0.05, 3
_SIZES = [2**k for k in range(8, 34)]


def _ends_far_off() -> list[float]:
    """Return noise for which neither the ends nor a few rows give the line, only the shares of all do."""
    shares = np.random.default_rng(1651).uniform(-0.04, 0.04, len(_SIZES)).tolist()
    return [0.09, *shares[1:-1], -0.09]


# Of the sizes, most need more than 32 bits.
_LARGE = [300, 2000, 9000, 70_000, *(k * 2**30 + 1000 for k in range(3, 10))]
# The machine in words, its latency in seconds, its rate in bytes per second, noise, sizes. Made up, and not
# round.
CASES: tuple[tuple[str, float, float, float | list[float], list[int]], ...] = (
    ("a table without noise", 1.46e-5, 5e10, 0.0, [2**k for k in range(10, 31, 4)]),
    ("a short table", 2.47e-6, 4e9, 0.0, [1000, 1_000_000]),
    ("a noisy table", 9e-6, 5.5e10, _NOISE, _SIZES),
    ("a noisy table of the same sizes from another machine", 2.47e-5, 1.34e10, _NOISE, _SIZES),
    ("a noisy table in no order", 4e-5, 1.2e10, _NOISE, _SIZES[::2] + _SIZES[1::2]),
    ("a table whose ends are far off", 9e-6, 5.5e10, _ends_far_off(), _SIZES),
    ("a noisy table of large copies", 1.46e-5, 2.6e10, _NOISE, _LARGE),
    ("a noisy table from the largest size down", 4.6e-7, 4e11, _NOISE, _SIZES[::-1]),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare both numbers with those that the table was made from."""
    for title, latency_s, rate, noise, sizes in CASES:
        times_s = _times(sizes, latency_s, rate, noise)
        columns = list(sizes), list(times_s)
        case = f"For {title} of {len(sizes)} rows, {_first(sizes, times_s)},"
        result, finding = attempt(function, case, *columns)
        finding = finding or _not_two_numbers(case, result) or _off(case, result, latency_s, rate)
        if finding is None and columns != (sizes, times_s):
            finding = Finding("input_changed", f"{case} the lists were changed; they belong to the caller.")
        if finding is not None:
            yield finding
            return


def _times(sizes: list[int], latency_s: float, rate: float, noise: float | list[float]) -> list[float]:
    if isinstance(noise, float):
        off = np.random.default_rng(len(sizes)).uniform(-noise, noise, len(sizes)).tolist()
    else:
        off = noise
    return [(latency_s + n / rate) * (1 + share) for n, share in zip(sizes, off, strict=True)]


def _not_two_numbers(case: str, result: Any) -> Finding | None:
    if isinstance(result, tuple | list) and len(result) == 2 and all(map(is_seconds, result)):
        return None
    return Finding("wrong", f"{case} two numbers were expected, latency and rate; got {shown(result)}.")


def _off(case: str, result: Any, latency_s: float, rate: float) -> Finding | None:
    found_s, found_rate = map(float, result)
    if is_near(found_s, rate, _CLOSE) and is_near(found_rate, latency_s, _CLOSE):
        return Finding("wrong", f"{case} the two numbers are swapped: the latency comes first.")
    if not is_near(found_s, latency_s, _CLOSE):
        return Finding(
            "wrong", f"{case} the latency must be {seconds(latency_s)} within 5 %; got {seconds(found_s)}."
        )
    if not is_near(found_rate, rate, _CLOSE):
        message = f"{case} the rate must be {rate:.3g} bytes per second within 5 %; got {found_rate:.3g}"
        inverse = ", which is one divided by it" * is_near(found_rate, 1 / rate, _CLOSE)
        return Finding("wrong", f"{message}{inverse}.")
    return None


def _first(sizes: list[int], times_s: list[float]) -> str:
    """Write the first rows of a table."""
    rows = zip(sizes[:_N_SHOWN], times_s, strict=False)
    return "; ".join(f"{n} bytes in {seconds(s)}" for n, s in rows) + "; ..." * (len(sizes) > _N_SHOWN)


EXERCISE = Exercise(
    name="latency_and_rate",
    title="Latency and rate from a table",
    level="beginner",
    minutes=15,
    teaches="A line fitted to shares, and not to seconds, finds the latency of copies as well as their rate.",
    task=FunctionTask(judge=judge, parameters=("sizes", "times_s")),
    lanes=("simulator",),
    pages=("transfers", "slicing", "overlap"),
    tags=("measuring", "copies", "latency", "bandwidth"),
)
