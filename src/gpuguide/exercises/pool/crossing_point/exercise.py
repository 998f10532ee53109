"""Between which of the measured sizes the GPU overtakes the CPU for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import nextafter
from typing import Any

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, equals, shown

Times = list[float]
Bracket = tuple[int, int] | None

_LATER = nextafter(1e-5, 1)

# What it shows; sizes, seconds on the CPU, seconds on the GPU; the bracket. Made up, not measured.
CASES: tuple[tuple[str, list[int], Times, Times, Bracket], ...] = (
    ("a plain crossing", [10, 100, 1000, 10_000], [1, 10, 100, 1000], [50, 50, 55, 80], (100, 1000)),
    ("a crossing at the first pair", [1, 2, 4, 8], [1, 9, 10, 20], [5, 5, 6, 7], (1, 2)),
    ("a crossing at the last pair", [1, 2, 4, 8], [1, 2, 3, 20], [5, 5, 6, 7], (4, 8)),
    ("two sizes", [64, 128], [1, 3], [2, 2], (64, 128)),
    ("a GPU that is ahead from the start", [1, 2, 4], [5, 6, 7], [1, 1, 1], None),
    ("a GPU that never gets ahead", [1, 2, 4], [1, 1, 1], [5, 6, 7], None),
    ("a GPU that falls back at the end", [1, 2, 4, 8], [1, 9, 9, 9], [5, 5, 5, 10], None),
    ("two columns that are equal", [1, 2, 4], [3, 4, 5], [3, 4, 5], None),
    ("one size", [1024], [2], [1], None),
    ("no size at all", [], [], [], None),
    ("times that cross three times", [1, 2, 4, 8, 16], [1, 9, 3, 9, 30], [5, 5, 5, 5, 6], (4, 8)),
    ("a tie between behind and ahead", [1, 2, 4], [1, 5, 9], [5, 5, 5], (1, 4)),
    ("two ties between behind and ahead", [1, 2, 4, 8], [1, 5, 6, 9], [5, 5, 6, 7], (1, 8)),
    ("a tie after the first crossing", [1, 2, 4, 8], [1, 9, 5, 9], [5, 5, 5, 5], (1, 8)),
    ("a tie before and after the GPU is behind", [1, 2, 4, 8], [5, 1, 5, 9], [5, 5, 5, 5], (2, 8)),
    ("a GPU that is ahead, then behind, then ahead", [1, 2, 4], [5, 1, 9], [4, 5, 5], (2, 4)),
    ("rows with the same times", [1, 2, 4, 8], [1, 9, 9, 9], [5, 5, 5, 5], (1, 2)),
    ("a tie at the start, ahead afterwards", [1, 2, 4], [5, 6, 9], [5, 5, 5], None),
    ("a tie at the end", [1, 2, 4], [1, 9, 5], [5, 5, 5], None),
    ("a GPU that falls back by a little", [1, 2, 4, 8], [1, 9, 100, 200], [5, 5, 101, 100], (4, 8)),
    ("sizes in no order", [1000, 10, 10_000, 100], [100, 1, 1000, 10], [55, 50, 80, 50], (100, 1000)),
    ("two sizes, the larger one first", [128, 64], [3, 1], [2, 2], (64, 128)),
    # The one is for float32, the other for 32 bits.
    ("large sizes", [16_777_217, 5_000_000_001], [1, 9], [5, 5], (16_777_217, 5_000_000_001)),
    ("times that differ by less than a microsecond", [1, 2], [3.2e-6, 3.4e-6], [3.4e-6, 3.2e-6], (1, 2)),
    ("times that differ by a billionth", [1, 2], [1, 1 + 1e-9], [1 + 1e-9, 1], (1, 2)),
    ("times that differ by less than a picosecond", [1, 2], [1, 1 + 1e-13], [1 + 1e-13, 1], (1, 2)),
    ("times of less than a nanosecond", [1, 2], [1e-10, 4e-10], [4e-10, 1e-10], (1, 2)),
    ("times that differ in the last digit", [1, 2], [1e-5, _LATER], [_LATER, 1e-5], (1, 2)),
    ("hours that differ by a nanosecond", [1, 2], [3600, 3600 + 1e-9], [3600 + 1e-9, 3600], (1, 2)),
    ("times of a few microseconds", [1, 2, 4], [1e-6, 3e-6, 9e-6], [4e-6, 4e-6, 4e-6], (2, 4)),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the bracket of each case with the known one, and check that the lists did not change."""
    for title, sizes, cpu_s, gpu_s, expected in CASES:
        columns = list(sizes), list(cpu_s), list(gpu_s)
        case = f"For {title}, sizes = {sizes}, cpu_s = {cpu_s}, gpu_s = {gpu_s},"
        result, finding = attempt(function, case, *columns)
        pair = tuple(result) if isinstance(result, list) else result
        if finding is None and not equals(pair, expected):
            finding = Finding("wrong", f"{case} the answer is {expected}; got {shown(result)}.")
        if finding is None and columns != (sizes, cpu_s, gpu_s):
            finding = Finding("input_changed", f"{case} the lists were changed; they belong to the caller.")
        if finding is not None:
            yield finding
            return


EXERCISE = Exercise(
    name="crossing_point",
    title="Where the order changes",
    level="beginner",
    minutes=15,
    teaches="A crossover lies between two measured sizes, and counts only if it lasts.",
    task=FunctionTask(judge=judge, parameters=("sizes", "cpu_s", "gpu_s")),
    lanes=("simulator",),
    pages=("why_gpu", "sort_search", "linear_algebra", "which_tool"),
    tags=("measuring", "crossover"),
)
