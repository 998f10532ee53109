"""How many blocks cover an array of any shape, and which launches CUDA refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, count, shown
from gpuguide.machine.launch import blocks_1d, grid_2d, grid_3d

Shape = tuple[int, ...]

# Shapes as NumPy has them, slowest axis first, and threads as CUDA has them, x first.
CASES: tuple[tuple[Shape, Shape], ...] = (
    ((1024,), (256,)),
    ((1000,), (256,)),
    ((1025,), (256,)),
    ((255,), (256,)),
    ((1,), (1,)),
    ((0,), (128,)),
    ((100, 1000), (32, 8)),
    ((1000, 100), (32, 8)),
    ((33, 64), (16, 32)),
    ((7, 1), (1, 1024)),
    ((0, 5), (32, 8)),
    ((5, 0), (32, 8)),
    ((0, 100), (32, 8)),
    ((16, 100, 1000), (32, 4, 2)),
    ((3, 2, 1), (8, 8, 8)),
    ((65, 1, 130), (4, 2, 64)),
    ((1, 0, 1), (8, 4, 2)),
    ((2**31 - 1,), (1,)),
    ((65_535, 1), (1, 1)),
    ((65_535, 1, 1), (1, 1, 1)),
    ((1, 65_535, 1), (1, 1, 1)),
    # Each axis has a limit, and all of them together have none.
    ((65_535, 65_535), (1, 1)),
    # CUDA refuses what follows.
    ((2**31,), (1,)),
    ((65_536, 1), (1, 1)),
    ((65_536, 1, 1), (1, 1, 1)),
    ((1, 65_536, 1), (1, 1, 1)),
    ((1,), (1025,)),
    ((1, 1), (32, 33)),
    ((1, 1, 1), (16, 16, 5)),
    ((1, 1, 1), (1, 1, 65)),
    ((70_000, 0), (1, 1)),
    ((0,), (2048,)),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the grid of each case with the one that the guide's own launchers use."""
    for shape, threads in CASES:
        case = f"With shape = {shape} and threads_per_block = {threads}"
        if expected := _blocks(shape, threads):
            result, finding = attempt(function, case, shape, threads)
            if finding is not None and "raised ValueError" in finding.message:
                allowed = f"{finding.message} CUDA allows this launch: the grid must be {expected}."
                finding = replace(finding, message=allowed)
            finding = finding or _compare(case, result, expected)
        else:
            finding = _asks_for_error(function, case, shape, threads)
        if finding is not None:
            yield finding
            return


def _blocks(shape: Shape, threads: Shape) -> Shape | None:
    """Return the grid; None where CUDA refuses the launch."""
    try:
        if len(shape) == 1:
            return (blocks_1d(shape[0], threads[0]),)
        if len(shape) == 2:
            return grid_2d((shape[0], shape[1]), (threads[0], threads[1]))
        return grid_3d((shape[0], shape[1], shape[2]), (threads[0], threads[1], threads[2]))
    except ArgumentError:
        return None


def _compare(case: str, result: object, expected: Shape) -> Finding | None:
    if not isinstance(result, tuple) or not all(map(_is_whole, result)):
        whole = count(len(expected), "integer")
        return Finding("wrong", f"{case} the result must be a tuple of {whole}; got {shown(result)}.")
    if result != expected:
        return Finding("wrong", f"{case} the grid must be {expected}; got {result}.")
    return None


def _is_whole(blocks: object) -> bool:
    """Say whether Numba takes it for a number of blocks: NumPy's integers will do."""
    return isinstance(blocks, Integral) and not isinstance(blocks, bool)


def _asks_for_error(function: Callable[..., Any], case: str, shape: Shape, threads: Shape) -> Finding | None:
    try:
        result = function(shape, threads)
    except ValueError:
        return None
    except Exception:  # reported with its line
        finding = attempt(function, case, shape, threads)[1]
        refused = "CUDA refuses the launch: expected ValueError."
        return finding and replace(finding, message=f"{finding.message} {refused}")
    return Finding("wrong", f"{case} CUDA refuses the launch: expected ValueError; got {shown(result)}.")


EXERCISE = Exercise(
    name="grid_arithmetic",
    title="Blocks for any shape",
    level="beginner",
    minutes=15,
    teaches="The grid is the shape over the block, rounded up, with the axes in reverse and limits on each.",
    task=FunctionTask(judge=judge, parameters=("shape", "threads_per_block")),
    lanes=("simulator",),
    pages=("know_your_gpu", "launch_sizes", "grids_2d_3d"),
    tags=("grid", "block", "launch"),
)
