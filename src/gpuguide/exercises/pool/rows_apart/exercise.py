"""A convolution in two dimensions by one in one dimension: the rows need zeros between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, known_lines, lines_text
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.machine.backends import cupy

# Shapes of the image and of the weights, and what numbers are smaller than: the plainest first. From
# 9999 on, sums are too large for single precision; of the last, a factor needs more than 32 bits, too. In
# three in a row the rows are eight numbers apart, which is made up of others.
CASES = (
    ((1, 3), (1, 2), 10),
    ((2, 2), (2, 2), 10),
    ((1, 1), (1, 1), 10),
    ((3, 1), (2, 2), 10),
    ((3, 4), (1, 3), 10),
    ((1, 4), (3, 2), 10),
    ((5, 6), (3, 3), 9999),
    ((5, 4), (3, 5), 9999),
    ((5, 7), (3, 2), 9999),
    ((7, 4), (2, 5), 9999),
    ((1, 9), (3, 1), 9999),
    ((2, 3), (4, 6), 9999),
    ((4, 20), (3, 17), 9999),
    ((5, 5), (2, 3), 2**40),
)
MOST_LAUNCHES = 8

_Shape = tuple[int, int]


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the results, and look at what was launched and copied."""
    return _judge(function, FakeCupy(VirtualGpu(source=source_of(function))))


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy, whose launches are not counted."""
    return _judge(function, cupy())


def praise(function: Callable[..., Any]) -> str:
    """Say how many launches a right answer needs."""
    cp = FakeCupy()
    function(cp, *map(cp.asarray, _inputs((5, 6), (3, 3), 9999, 0)))
    launches = count(len(cp.gpu.events("launch")), "launch", "launches")
    return f"One convolution, {launches} in all: the zeros between the rows are what was missing."


def _judge(function: Callable[..., Any], cp: Any) -> Iterator[Finding]:
    for of_image, of_weights, largest in CASES:
        found = list(_findings(function, cp, of_image, of_weights, largest))
        if found:
            yield from found
            return


def _findings(
    function: Callable[..., Any], cp: Any, of_image: _Shape, of_weights: _Shape, largest: int
) -> Iterator[Finding]:
    """Call it twice with the same arrays, which then hold other numbers: nothing of the first call fits."""
    shapes = f"image of {of_image[0]} x {of_image[1]} and weights of {of_weights[0]} x {of_weights[1]}"
    shapes += ", all large numbers," if largest > 2**16 else ""
    first, second = (_inputs(of_image, of_weights, largest, seed) for seed in (0, 1))
    on_gpu = [cp.asarray(each) for each in first]
    result, found = _called(function, cp, f"For an {shapes}", on_gpu, first)
    if found:
        yield from found
        return
    kept = result.get()
    case = f"For other numbers in the same {shapes}"
    for array, numbers in zip(on_gpu, second, strict=True):
        array.set(numbers)
    _, found = _called(function, cp, case, on_gpu, second, kept)
    yield from found
    if not found and not np.array_equal(result.get(), kept):
        message = f"{case} the function changed the result of the first one: it must return a new array."
        yield Finding("wrong", message)


def _called(
    function: Callable[..., Any],
    cp: Any,
    case: str,
    on_gpu: list[Any],
    inputs: list[Any],
    before: Any = None,
) -> tuple[Any, list[Finding]]:
    """Call it, and compare the result with what it must be."""
    if isinstance(cp, FakeCupy):
        cp.gpu.log.clear()  # the copies so far are ours
        cp.unset_read_at = None
    result, finding = attempt(function, case, cp, *on_gpu)
    if finding is not None:
        return result, [finding]
    moved = _moved(case, cp) if isinstance(cp, FakeCupy) else None
    if not isinstance(result, cp.ndarray):
        return result, [moved or Finding("wrong", f"{case} the result must be an array on the GPU.")]
    on_host = result.get()
    finding = compare_values(case, on_host, _expected(*inputs))
    if finding and before is not None and np.array_equal(on_host, before):
        message = f"{finding.message} That is the result of the call before."
        return result, [replace(finding, message=message)]
    if moved:
        return result, [moved]
    if finding and isinstance(cp, FakeCupy):
        finding = _explained(finding, cp, result)
    checks = [finding]
    for name, array, copy in zip(("image", "weights"), on_gpu, inputs, strict=True):
        checks.append(unchanged(case, name, array.get(), copy))
    return result, [found for found in checks if found]


def _moved(case: str, cp: FakeCupy) -> Finding | None:
    copies = cp.gpu.events("to_device", "to_host")
    if copies:
        return Finding(
            "limit", f"{case} data were copied between host and GPU; nothing has to be.", line=copies[0].line
        )
    launches = cp.gpu.events("launch")
    calls = [event.line for event in launches if event.name.startswith("convolve")]
    if len(calls) != 1:
        n_calls = f"{count(len(calls), 'time')}{lines_text(calls)}"
        message = f"{case} convolve was called {n_calls}; once is what is asked."
        return Finding("limit", message, lines=known_lines(calls))
    if len(launches) > MOST_LAUNCHES:
        lines = [event.line for event in launches]
        n_launches = f"{count(len(launches), 'launch', 'launches')}{lines_text(lines)}"
        message = f"{case} it took {n_launches}; {MOST_LAUNCHES} are enough."
        return Finding("limit", message, lines=known_lines(lines))
    return None


def _explained(finding: Finding, cp: FakeCupy, result: Any) -> Finding:
    """Add the cause, if it is memory that was not set or the type in which the numbers were convolved."""
    (launch,) = (event for event in cp.gpu.events("launch") if event.name.startswith("convolve"))
    dtype = launch.name.partition(" ")[2]
    line, why = (
        launch.line,
        f"In line {launch.line} convolve works in {dtype}, which does not hold all of int64.",
    )
    if cp.unset_read_at or cp.holds_unset(result):
        line = cp.unset_read_at
        where = f"Line {line} reads" if line else "The result has"
        why = f"{where} memory of cp.empty that was never set; cp.zeros sets it."
    elif finding.kind != "wrong" or dtype == "int64":
        return finding
    return replace(finding, message=f"{finding.message} {why}", line=line, lines=())


def _inputs(of_image: _Shape, of_weights: _Shape, largest: int, seed: int) -> list[Any]:
    rng = np.random.default_rng((*of_image, *of_weights, seed))
    limits = (largest, min(largest, 2**20))
    # No zero among them, which would hide a wrong place.
    numbers = [
        rng.integers(max(1, limit // 9999), limit, shape)
        for limit, shape in zip(limits[:: -1 if seed else 1], (of_image, of_weights), strict=True)
    ]
    return [each * rng.choice([-1, 1], each.shape) for each in numbers] if seed else numbers


def _expected(image: Any, weights: Any) -> Any:
    (rows, columns), (height, width) = image.shape, weights.shape
    out = np.zeros((rows + height - 1, columns + width - 1), image.dtype)
    for row in range(rows):
        for column in range(columns):
            out[row : row + height, column : column + width] += image[row, column] * weights
    return out


EXERCISE = Exercise(
    name="rows_apart",
    title="Rows apart",
    level="beginner",
    minutes=20,
    teaches="Rows that follow each other are a signal, and zeros keep them from running into each other.",
    task=FunctionTask(judge=judge, parameters=("cp", "image", "weights"), praise=praise, on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("numpy_to_cupy",),
    tags=("CuPy", "convolution", "image"),
)
