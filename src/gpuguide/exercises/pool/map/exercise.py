"""The negative of a picture: one thread per pixel, in a grid that fits exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# Several threads first, so that what is said of work that is not shared can be seen there.
LAUNCHES = ((2, 32), (1, 1), (5, 1), (1, 32), (3, 32), (1, 96), (4, 96), (1, 256), (5, 256))


def calls() -> list[Call]:
    """Make launches that have exactly one thread per pixel."""
    return [*(_call(*launch) for launch in LAUNCHES), replace(_call(274, 256), gpu_only=True)]


def _call(grid: int, threads: int) -> Call:
    n = grid * threads
    pixels = np.random.default_rng(n).integers(0, 256, n, dtype=np.uint8)
    arguments = {"pixels": pixels, "out": poisoned(n, np.uint8)}
    label = f"n = {n}, {in_words((grid,), (threads,))}"
    return Call(label, (grid,), (threads,), arguments, {"out": 255 - pixels})


EXERCISE = Exercise(
    name="map",
    title="One thread, one pixel",
    level="beginner",
    minutes=5,
    teaches="A kernel is the body of a loop, and `cuda.grid(1)` is its loop variable.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, loop_turns=1),
        signature=("uint8[::1]", "uint8[::1]"),
        parameters=("pixels", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("first_kernel",),
    tags=("grid", "thread", "map"),
)
