"""Elements of a block move one place on: read, wait for all others, write."""

from __future__ import annotations

import numpy as np

from gpuguide.exercises.cases import launches_1d, lengths
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches whose last block has a short part, one beyond 128 elements among them, or none."""
    return launches_1d(_build, lengths=lengths(1193), with_launch=True)


def _build(
    n: int, rng: np.random.Generator, _grid: int, threads: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    # Of either sign, and with more digits than half precision has.
    x = (rng.permutation(n) + 2049).astype(np.float32) / 8
    x = np.where(x % 1 < 0.5, -x, x)
    if n > 32:  # no number is free to mark a thread without an element, and a difference would be rounded
        x[n // 2 - 2 : n // 2 + 2] = 0, -1, 2.0**80, -(2.0**80)
    parts = [np.roll(x[start : start + threads], 1) for start in range(0, n, threads)]
    return {"x": x}, {"x": np.concatenate([x[:0], *parts])}


EXERCISE = Exercise(
    name="barrier",
    title="Musical chairs",
    level="intermediate",
    minutes=15,
    teaches="A barrier separates reading from writing, and every thread of the block must reach it.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, loop_turns=2),
        signature=("float32[::1]",),
        parameters=("x",),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("shared_memory",),
    tags=("barrier", "block", "race"),
)
