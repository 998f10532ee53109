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
from gpuguide.exercises.stand_ins.judging import attempt, count
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.machine.backends import cupy

# Of the image and of the weights: square, a single pixel, one row, one column, weights larger than the image.
SHAPES = (((5, 6), (3, 3)), ((1, 1), (1, 1)), ((7, 4), (2, 5)), ((1, 9), (3, 1)), ((2, 3), (4, 6)))
# What numbers are smaller than. The products of the large ones fit into int64 alone.
CASES = (*((shapes, 9999) for shapes in SHAPES), (((5, 5), (2, 3)), 2**29))
MOST_LAUNCHES = 8


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the results, and look at what was launched and copied."""
    for shapes, largest in CASES:
        cp = FakeCupy(VirtualGpu(source=source_of(function)))
        found = list(_findings(function, shapes, largest, cp))
        if found:
            yield from found
            return


def judge_on_gpu(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with the real CuPy, whose launches are not counted."""
    cp = cupy()
    for shapes, largest in CASES:
        found = list(_findings(function, shapes, largest, cp))
        if found:
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say how many launches a right answer needs."""
    cp = FakeCupy()
    function(cp, *map(cp.asarray, _inputs(*CASES[0])))
    launches = count(len(cp.gpu.events("launch")), "launch", "launches")
    return f"One convolution, {launches} in all: the zeros between the rows are what was missing."


def _findings(
    function: Callable[..., Any], shapes: tuple[tuple[int, int], tuple[int, int]], largest: int, cp: Any
) -> Iterator[Finding]:
    image, weights = _inputs(shapes, largest)
    on_gpu = [cp.asarray(each) for each in (image, weights)]
    if isinstance(cp, FakeCupy):
        cp.gpu.log.clear()  # the copies so far are ours
    (rows, columns), (height, width) = shapes
    case = f"For an image of {rows} x {columns} and weights of {height} x {width}"
    case += ", all large numbers," if largest > 2**16 else ""
    result, finding = attempt(function, case, cp, *on_gpu)
    if finding is None and isinstance(cp, FakeCupy):
        finding = _moved(case, cp)
    if finding is None and not isinstance(result, cp.ndarray):
        finding = Finding("wrong", f"{case} the result must be an array on the GPU.")
    if finding is not None:
        yield finding
        return
    finding = compare_values(case, result.get(), _expected(image, weights))
    checks = [finding and _explained(finding, cp) if isinstance(cp, FakeCupy) else finding]
    for name, array, before in zip(("image", "weights"), on_gpu, (image, weights), strict=True):
        checks.append(unchanged(case, name, array.get(), before))
    yield from (found for found in checks if found)


def _moved(case: str, cp: FakeCupy) -> Finding | None:
    copies = cp.gpu.events("to_device", "to_host")
    if copies:
        return Finding(
            "limit", f"{case} data were copied between host and GPU; nothing has to be.", line=copies[0].line
        )
    launches = cp.gpu.events("launch")
    n_calls = sum(event.name.startswith("convolve") for event in launches)
    if n_calls != 1:
        return Finding(
            "limit", f"{case} convolve was called {count(n_calls, 'time')}; once is what is asked."
        )
    if len(launches) > MOST_LAUNCHES:
        n_launches = count(len(launches), "launch", "launches")
        return Finding("limit", f"{case} it took {n_launches}; {MOST_LAUNCHES} are enough.")
    return None


def _explained(finding: Finding, cp: FakeCupy) -> Finding:
    """Add the type in which the numbers were convolved, if that is the cause."""
    (launch,) = (event for event in cp.gpu.events("launch") if event.name.startswith("convolve"))
    dtype = launch.name.partition(" ")[2]
    if finding.kind != "wrong" or dtype == "int64":
        return finding
    in_line = f"In line {launch.line} convolve works in {dtype}, which does not hold all of int64."
    message = f"{finding.message} {in_line}"
    return replace(finding, message=message, line=launch.line, lines=())


def _inputs(shapes: tuple[tuple[int, int], tuple[int, int]], largest: int) -> list[Any]:
    rng = np.random.default_rng(shapes[0])
    # No zero among them, which would hide a wrong place; their sums are too large for single precision.
    return [rng.integers(largest // 9999, largest, shape) for shape in shapes]


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
    teaches="An image whose rows follow each other is a signal, and zeros keep its rows from running into each other.",
    task=FunctionTask(judge=judge, parameters=("cp", "image", "weights"), praise=praise, on_gpu=judge_on_gpu),
    lanes=("simulator", "gpu"),
    pages=("numpy_to_cupy",),
    tags=("CuPy", "convolution", "image"),
)
