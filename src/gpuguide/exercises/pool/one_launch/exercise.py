"""Each row of a table by its own factor: a thousand small launches, or one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths
from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, known_lines, lines_text
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.machine.backends import cupy

# One shape comes twice, with other numbers.
SHAPES = ((4, 6), (4, 6), (3, 3), (1, 5), (5, 1), (1000, 16), (0, 4))


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the result for several tables and count the launches."""
    return _judge(function, FakeCupy(VirtualGpu(source=source_of(function))), is_watched=True)


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    return _judge(function, cupy())


def praise(function: Callable[..., Any]) -> str:
    """Say what a right answer launched."""
    cp = FakeCupy()
    rows, columns = SHAPES[-2]
    x, factors, _ = _table((rows, columns), 0)
    function(cp, cp.asarray(x), cp.asarray(factors))
    launches = count(len(cp.gpu.events("launch")), "launch", "launches")
    return f"{launches} for {rows} rows of {columns}."


def _judge(function: Callable[..., Any], cp: Any, *, is_watched: bool = False) -> Iterator[Finding]:
    earlier: list[tuple[Any, Any]] = []  # what it returned, and what that must still be
    for number, shape in enumerate(SHAPES):
        is_second = shape in SHAPES[:number]
        which = "another" if is_second else "a"
        case = f"For {which} table of {count(shape[0], 'row')} and {count(shape[1], 'column')}"
        x, factors, expected = _table(shape, number)
        on_gpu = cp.asarray(x), cp.asarray(factors)
        if is_watched:
            cp.gpu.log.clear()  # the copies so far are ours
        result, finding = attempt(function, case, cp, *on_gpu)
        finding = finding or (_too_much(case, cp) if is_watched else None)
        if finding is None and not isinstance(result, cp.ndarray):
            finding = Finding("wrong", f"{case} the result must be an array on the GPU, and it is not.")
        finding = finding or compare_values(case, result.get(), expected)
        if is_second and finding and finding.kind == "wrong":
            again = " The first one of this shape came out right: keep nothing from one call to the next."
            finding = replace(finding, message=finding.message + again)
        if finding is None and any(not np.array_equal(old.get(), right) for old, right in earlier):
            message = f"{case} the function changed what it had returned before: it must return a new table."
            finding = Finding("wrong", message)
        changed = unchanged(case, "x", on_gpu[0].get(), x) or unchanged(
            case, "factors", on_gpu[1].get(), factors
        )
        if found := [each for each in (finding, changed) if each]:
            yield from found
            return
        earlier.append((result, expected))


def _too_much(case: str, cp: FakeCupy) -> Finding | None:
    """Return what the log so far holds that is more than one launch."""
    launches, copies = cp.gpu.events("launch", "memset"), cp.gpu.events("to_host", "to_device")
    if len(launches) > 1:
        lines = lines_text(event.line for event in launches)
        return Finding(
            "limit",
            f"{case} there were {len(launches)} launches{lines}; one is enough. "
            "Each costs the host as much as a launch for the whole table.",
            line=launches[0].line,
            lines=known_lines(event.line for event in launches),
        )
    if copies:
        lines = lines_text(event.line for event in copies)
        message = f"{case} data crossed between host and GPU, {count(len(copies), 'time')}{lines}."
        return Finding("limit", message, line=copies[0].line)
    return None


def _table(shape: tuple[int, int], number: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng((*shape, number))
    # Exact in single precision, and too long for half.
    x = eighths(rng, -999, 999, shape)
    factors = eighths(rng, 2, 9, shape[0])
    return x, factors, x * factors[:, np.newaxis]


EXERCISE = Exercise(
    name="one_launch",
    title="One launch for all rows",
    level="beginner",
    minutes=10,
    teaches="A launch costs the host the same, however little work it does: do all the work in one.",
    task=FunctionTask(judge=judge, parameters=("cp", "x", "factors"), praise=praise, on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("launch_overhead", "graphs"),
    tags=("CuPy", "launch", "broadcasting"),
)
