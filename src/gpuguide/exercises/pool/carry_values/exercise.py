"""Sums of three neighbours along a column: two of them are known from the turn before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import FAR, eighths, in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits
from gpuguide.exercises.simulator.findings import count
from gpuguide.machine.launch import blocks_1d

# Layers, columns, and threads per block.
LAUNCHES = (
    ((1, 1), 32),
    ((1, 33), 32),
    ((2, 31), 96),
    ((3, 64), 32),
    ((5, 70), 256),
    ((67, 3), 32),
    ((7, 257), 96),
    ((0, 5), 32),
)


def calls() -> list[Call]:
    """Make launches with a thread for each column, and more."""
    return [*(_call(*launch) for launch in LAUNCHES), replace(_call((3, FAR), 256), gpu_only=True)]


def _call(shape: tuple[int, int], threads: int) -> Call:
    # Multiples of 1/8: the sums are exact in any order.
    x = eighths(np.random.default_rng(shape), -999, 1000, shape)
    # Whatever the order, nothing shows beside these; a sum that goes on would not get its digits back.
    x[2::7, ::3] = 2.0**80
    expected = x.copy()
    expected[1:] += x[:-1]
    expected[:-1] += x[1:]
    grid = (blocks_1d(shape[1], threads),)
    label = f"{count(shape[0], 'layer')}, {count(shape[1], 'column')}, {in_words(grid, (threads,))}"
    arguments = {"x": x, "out": poisoned(shape)}
    # A loop over the columns, which each thread has but one of, makes one turn more than there are layers.
    return Call(label, grid, (threads,), arguments, {"out": expected}, loop_turns=shape[0] + 1)


EXERCISE = Exercise(
    name="carry_values",
    title="Carry values along",
    level="intermediate",
    minutes=15,
    teaches="What a loop needs again in its next turn stays in a register, and is loaded once.",
    task=KernelTask(
        calls=calls,
        limits=Limits(sectors_per_request=5, reads_per_element=1, writes_per_element=1),
        signature=("float32[:, ::1]", "float32[:, ::1]"),
        parameters=("x", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("registers",),
    tags=("registers", "memory", "loop"),
)
