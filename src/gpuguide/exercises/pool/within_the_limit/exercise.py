"""An expression over an array that does not fit: in chunks, within a limit of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.judging import attempt, count
from gpuguide.exercises.stand_ins.limited_memory import LimitedCupy
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.exercises.stand_ins.work_on_host import work_on_host
from gpuguide.machine.backends import cupy

# Numbers of the recording, their type, and the limit in bytes.
CASES = (
    (1001, np.float32, 1600),
    (1009, np.float64, 1024),
    (5, np.float64, 64),
    (4000, np.float32, 512),
    (300, np.float64, 30_000),
    (0, np.float32, 512),
)
LEAST_SHARE = 8  # a chunk has at least this part of the limit
TOLERANCES: dict[type, float] = {np.float32: 1e-5, np.float64: 1e-12}


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the results, within each limit, and count the copies."""
    for n, dtype, limit in CASES:
        case = n, dtype, limit
        cp = LimitedCupy(limit, VirtualGpu(source=source_of(function)))
        if found := list(_findings(function, case, cp)) or list(_copies(case, cp)):
            yield from found
            return
        arguments = _recording(n, dtype), limit
        if finding := work_on_host(
            function, _said(case), LimitedCupy(limit), arguments, _expected, TOLERANCES[dtype]
        ):
            yield finding
            return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy, whose pool then has no limit."""
    for case in CASES:
        if found := list(_findings(function, case, cupy())):
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what a right answer used and copied."""
    n, dtype, limit = CASES[0]
    cp = LimitedCupy(limit)
    function(cp, _recording(n, dtype), limit)
    copies = count(len(cp.gpu.events("to_device")), "copy", "copies")
    return f"At most {cp.most_used} of {limit} bytes were used at a time, in {copies} to the GPU."


def _findings(function: Callable[..., Any], case: tuple[Any, ...], cp: Any) -> Iterator[Finding]:
    n, dtype, limit = case
    x = _recording(n, dtype)
    copy, said = x.copy(), _said(case)
    result, finding = attempt(function, said, cp, x, limit)
    if finding is None and isinstance(result, cp.ndarray):
        finding = Finding("wrong", f"{said} the result must be an array of NumPy; it was left on the GPU.")
    finding = finding or compare_values(said, result, _expected(copy, limit), TOLERANCES[dtype])
    yield from (found for found in (finding, unchanged(said, "x", x, copy)) if found)


def _copies(case: tuple[Any, ...], cp: LimitedCupy) -> Iterator[Finding]:
    n, dtype, limit = case
    n_bytes = n * np.dtype(dtype).itemsize
    most = -(-n_bytes * LEAST_SHARE // limit)
    # A number that crosses twice does no harm, such as one whose type an array is to have.
    spare_bytes, spare_copies = max(np.dtype(dtype).itemsize, limit // LEAST_SHARE), 1
    ways = ("to_device", "to the GPU", cp.sent), ("to_host", "back to the host", cp.fetched)
    for kind, where, arrays in ways:
        copies = cp.gpu.events(kind)
        moved = sum(event.nbytes for event in copies)
        if not 0 <= moved - n_bytes <= spare_bytes:
            wide = {str(a.dtype) for a in arrays if isinstance(a, np.ndarray) and a.size > 1} - {
                str(np.dtype(dtype))
            }
            how = f"they crossed as {' and '.join(sorted(wide))}" if wide else "each should cross once"
            yield Finding(
                "limit",
                f"{_said(case)} {moved} bytes were copied {where}; the recording has {n_bytes}, and {how}.",
                line=copies[0].line if copies else None,
            )
        elif len(copies) > most + spare_copies:
            yield Finding(
                "limit",
                f"{_said(case)} there were {len(copies)} copies {where}; with chunks of an eighth of the "
                f"limit there are {most}.",
                line=copies[0].line,
            )


def _said(case: tuple[Any, ...]) -> str:
    n, dtype, limit = case
    return f"For {count(n, 'number')} of {np.dtype(dtype)} and a limit of {limit} bytes"


def _recording(n: int, dtype: Any) -> Any:
    return np.random.default_rng(n).uniform(-9, 9, n).astype(dtype)


def _expected(x: Any, limit: int) -> Any:
    return np.log1p(x.astype(np.float64) ** 2).astype(x.dtype)


EXERCISE = Exercise(
    name="within_the_limit",
    title="Stay within the limit",
    level="intermediate",
    minutes=15,
    teaches="Work in chunks and in place, and remember that a name keeps its array's memory.",
    task=FunctionTask(judge=judge, parameters=("cp", "x", "limit"), praise=praise, on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("memory_pools", "overlap"),
    tags=("CuPy", "memory", "chunks"),
)
