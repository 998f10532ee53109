"""Fill in: a function that works where its array lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.machine.backends import cupy

# Each needs all bits of its dtype, and so do most of its squares.
TABLES = (
    np.array([[1, -2, 3], [300, -40_001, 46_339]], np.int32),
    np.array([-4, 0, 2.5, 300.125, -0.375], np.float32),
    np.array([0.5, 2**25 + 1, -(2**22) - 0.125]),
)

# The GPU first: NumPy's functions take arrays of CuPy, so what keeps the module of its first call would pass
# the other way round.
SIDES = ("GPU", "host")


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with arrays of both libraries; the result must lie where the array lies."""
    for table in TABLES:
        for where in SIDES:
            cp = FakeCupy(VirtualGpu(source=source_of(function)))
            if found := _findings(function, cp, table, where) or _crossed(cp, table, where):
                yield found
                return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    for table in TABLES:
        for where in SIDES:
            if found := _findings(function, cupy(), table, where):
                yield found
                return


def _findings(function: Callable[..., Any], cp: Any, table: Any, where: str) -> Finding | None:
    case = f"For {table.dtype} on the {where}"
    kind = cp.ndarray if where == "GPU" else np.ndarray
    a = cp.asarray(table) if where == "GPU" else table.copy()
    if where == "GPU" and isinstance(cp, FakeCupy):
        cp.gpu.log.clear()  # the copy there is not the reader's
    result, finding = attempt(function, case, cp, a)
    if finding is not None:
        return finding
    if not isinstance(result, kind):
        library = "CuPy" if where == "GPU" else "NumPy"
        return Finding("wrong", f"{case} the result must be an array of {library}; got {shown(result)}.")
    log = list(cp.gpu.log) if isinstance(cp, FakeCupy) else []
    wrong = compare_values(case, cp.asnumpy(result), table * table)
    changed = unchanged(case, "a", cp.asnumpy(a), table)
    if isinstance(cp, FakeCupy):
        cp.gpu.log[:] = log  # nor are those that look at the result
    return changed or wrong


def _crossed(cp: FakeCupy, table: Any, where: str) -> Finding | None:
    copies = cp.gpu.events("to_device", "to_host")
    if not copies:
        return None
    message = f"For {table.dtype} on the {where} data were copied, {copies[0].what}; they are in place."
    return Finding("limit", message, line=copies[0].line)


EXERCISE = Exercise(
    name="fill_in_either",
    title="Fill in: either side",
    level="beginner",
    minutes=5,
    teaches="NumPy's and CuPy's functions have the same names; an array knows whose it is.",
    task=FunctionTask(judge=judge, parameters=("cp", "a"), on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("puzzles",),
    tags=("CuPy", "NumPy", "fill in"),
)
