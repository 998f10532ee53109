"""Each row of a table by its own factor: a thousand small launches, or one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

SHAPES = ((4, 6), (3, 3), (1, 5), (5, 1), (1000, 16), (0, 4))


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the result for several tables and count the launches."""
    for shape in SHAPES:
        cp = FakeCupy(VirtualGpu(source=source_of(function)))
        if found := list(_findings(function, shape, cp, is_watched=True)):
            yield from found
            return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    cp = cupy()
    for shape in SHAPES:
        if found := list(_findings(function, shape, cp)):
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what a right answer launched."""
    cp = FakeCupy()
    rows, columns = SHAPES[-2]
    x, factors, _ = _table((rows, columns))
    function(cp, cp.asarray(x), cp.asarray(factors))
    launches = count(len(cp.gpu.events("launch")), "launch", "launches")
    return f"{launches} for {rows} rows of {columns}."


def _findings(
    function: Callable[..., Any], shape: tuple[int, int], cp: Any, *, is_watched: bool = False
) -> Iterator[Finding]:
    x, factors, expected = _table(shape)
    x_device, factors_device = cp.asarray(x), cp.asarray(factors)
    if is_watched:
        cp.gpu.log.clear()
    case = f"For a table of {count(shape[0], 'row')} and {count(shape[1], 'column')}"
    result, finding = attempt(function, case, cp, x_device, factors_device)
    finding = finding or (_too_much(case, cp) if is_watched else None)
    if finding is None and not isinstance(result, cp.ndarray):
        finding = Finding("wrong", f"{case} the result must be an array on the GPU, and it is not.")
    finding = finding or compare_values(case, result.get(), expected)
    changed = unchanged(case, "x", x_device.get(), x) or unchanged(
        case, "factors", factors_device.get(), factors
    )
    yield from (found for found in (finding, changed) if found)


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


def _table(shape: tuple[int, int]) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(shape[0])
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
