"""Fill in: a product of two vectors that begin on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isinf
from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths
from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, known_lines, lines_text, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.exercises.stand_ins.work_on_host import work_on_host
from gpuguide.machine.backends import cupy

# One length comes twice, with other numbers.
LENGTHS = (3, 1, 3, 1000, 70_001)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the product for several lengths, and look at what crossed over."""
    for number, n in enumerate(LENGTHS):
        cp = FakeCupy(VirtualGpu(source=source_of(function)))
        if found := _finding(function, cp, number) or _crossings(cp, _case(number), n):
            yield found
            return
    # Last, for what is kept from one call to the next does not fit other numbers either.
    for number in range(len(LENGTHS)):
        if found := work_on_host(function, _case(number), FakeCupy(), _vectors(number), _expected):
            yield found
            return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy."""
    for number in range(len(LENGTHS)):
        if found := _finding(function, cupy(), number):
            yield found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say what crossed over."""
    cp = FakeCupy()
    function(cp, *_vectors(LENGTHS.index(1000)))
    there, back = (sum(event.nbytes for event in cp.gpu.events(way)) for way in ("to_device", "to_host"))
    return f"{there} bytes went to the GPU, {back} came back."


def _finding(function: Callable[..., Any], cp: Any, number: int) -> Finding | None:
    case = _case(number)
    a, b = _vectors(number)
    copies = a.copy(), b.copy()
    result, finding = attempt(function, case, cp, a, b)
    finding = finding or unchanged(case, "a", a, copies[0]) or unchanged(case, "b", b, copies[1])
    if finding is not None:
        return finding
    if type(result) not in (int, float):
        return Finding("wrong", f"{case} the product must be a Python number; got {shown(result)}.")
    expected = _expected(a, b)
    if result != expected:
        why = _too_large(expected, cp) if isinf(result) and isinstance(cp, FakeCupy) else ""
        return Finding("wrong", f"{case} the product must be {expected}; got {float(result)}.{why}")
    return None


def _too_large(expected: float, cp: FakeCupy) -> str:
    """Say which type cannot hold the number that was fetched."""
    dtype = cp.fetched[-1].dtype if cp.fetched else np.dtype(float)
    largest = float(np.finfo(dtype).max) if dtype.kind == "f" else np.inf
    return f" It is too large for {dtype}, which ends at {largest:.0f}." if expected > largest else ""


def _crossings(cp: FakeCupy, case: str, n: int) -> Finding | None:
    there, back = cp.gpu.events("to_device"), cp.gpu.events("to_host")
    if not there or not cp.gpu.events("launch"):
        what = "copy both vectors there" if not there else "multiply and add up there, and not on the host"
        lines = [event.line for event in back]
        message = f"{case} the GPU had nothing to do: {what}{lines_text(lines)}."
        return Finding("limit", message, line=known_lines(lines)[0] if known_lines(lines) else None)
    if len(there) > 2:
        lines = [event.line for event in there]
        message = (
            f"{case} data went to the GPU {count(len(there), 'time')}{lines_text(lines)}; twice will do."
        )
        return Finding("limit", message, line=lines[-1], lines=known_lines(lines))
    moved, wanted = sum(event.nbytes for event in there), 2 * n * np.dtype(np.float32).itemsize
    if moved != wanted:
        message = f"{case} {count(moved, 'byte')} went to the GPU; the two vectors have {wanted}."
        return Finding("limit", f"{message} Each must go there once, as it is.", line=there[0].line)
    if large := [event for event in back if event.nbytes > 8]:
        message = f"{case} {large[0].what} came back. The sum of the products can be made on the GPU."
        return Finding("limit", message, line=large[0].line)
    if len(back) > 1:
        lines = [event.line for event in back]
        message = f"{case} a number came back {count(len(back), 'time')}{lines_text(lines)}; once will do."
        message += " Whatever the host asks of an array on the GPU is a copy."
        return Finding("limit", message, line=lines[0], lines=known_lines(lines))
    return None


def _case(number: int) -> str:
    n = LENGTHS[number]
    return f"For {count(n, 'other number' if n in LENGTHS[:number] else 'number')}"


def _expected(a: Any, b: Any) -> float:
    return float(np.dot(a.astype(np.float64), b.astype(np.float64)))


def _vectors(number: int) -> tuple[Any, Any]:
    # Their sums are exact in float32, though half precision and integers cannot hold them.
    a, b = eighths(np.random.default_rng(number), -3, 4, (2, LENGTHS[number]))
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
