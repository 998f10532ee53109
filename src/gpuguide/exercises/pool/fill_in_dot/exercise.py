"""Fill in: a product of two vectors that begin on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths
from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, is_seconds, known_lines, lines_text, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.machine.backends import cupy

LENGTHS = (3, 1, 1000)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the product for several lengths, and look at what crossed over."""
    for n in LENGTHS:
        cp = FakeCupy(VirtualGpu(source=source_of(function)))
        if found := _findings(function, cp, n) or _crossings(cp, n):
            yield found
            return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    for n in LENGTHS:
        if found := _findings(function, cupy(), n):
            yield found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what crossed over."""
    cp = FakeCupy()
    function(cp, *_vectors(1000))
    there, back = (sum(event.nbytes for event in cp.gpu.events(way)) for way in ("to_device", "to_host"))
    return f"{there} bytes went to the GPU, {back} came back."


def _findings(function: Callable[..., Any], cp: Any, n: int) -> Finding | None:
    case = f"For {count(n, 'number')}"
    a, b = _vectors(n)
    copies = a.copy(), b.copy()
    result, finding = attempt(function, case, cp, a, b)
    if finding is not None:
        return finding
    if not is_seconds(result) or isinstance(result, np.generic):  # a real number, and finite
        return Finding("wrong", f"{case} the product must be a Python number; got {shown(result)}.")
    expected = float(np.dot(a.astype(np.float64), b.astype(np.float64)))
    if float(result) != expected:
        return Finding("wrong", f"{case} the product must be {expected}; got {float(result)}.")
    return unchanged(case, "a", a, copies[0]) or unchanged(case, "b", b, copies[1])


def _crossings(cp: FakeCupy, n: int) -> Finding | None:
    case = f"For {count(n, 'number')}"
    there, back = cp.gpu.events("to_device"), cp.gpu.events("to_host")
    if not there or not cp.gpu.events("launch"):
        return Finding("limit", f"{case} the GPU had nothing to do: copy both vectors there.")
    if len(there) > 2:
        lines = [event.line for event in there]
        message = (
            f"{case} data went to the GPU {count(len(there), 'time')}{lines_text(lines)}; twice will do."
        )
        return Finding("limit", message, line=lines[-1], lines=known_lines(lines))
    if sum(event.nbytes for event in back) > 8:
        message = f"{case} {back[0].what} came back. The sum of the products can be made on the GPU."
        return Finding("limit", message, line=back[0].line)
    return None


def _vectors(n: int) -> tuple[Any, Any]:
    # Their sums are exact in float32, though half precision and integers cannot hold them.
    a, b = eighths(np.random.default_rng(n), -3, 4, (2, n))
    a[0], b[0] = 256.125, 257.125
    return a, b


EXERCISE = Exercise(
    name="fill_in_dot",
    title="Fill in: from the host",
    level="beginner",
    minutes=5,
    teaches="Copy what the GPU needs, compute there, and fetch the one number that is asked for.",
    task=FunctionTask(judge=judge, parameters=("cp", "a", "b"), praise=praise, on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("puzzles",),
    tags=("CuPy", "copies", "fill in"),
)
