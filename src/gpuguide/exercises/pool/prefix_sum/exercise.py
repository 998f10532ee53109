"""Running totals within each block, in rounds that double the distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths, launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make the launches."""
    return launches_1d(_build, lengths=(0, 1, 31, 33, 257, 300), with_launch=True)


def _build(
    n: int, rng: np.random.Generator, _grid: int, threads: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    # Multiples of 1/8: each sum is exact in any order.
    x = eighths(rng, -99, 999, n)
    parts = [np.cumsum(x[start : start + threads], dtype=np.float32) for start in range(0, n, threads)]
    return {"x": x, "totals": poisoned(n)}, {"totals": np.concatenate([x[:0], *parts])}


EXERCISE = Exercise(
    name="prefix_sum",
    title="Running totals",
    level="intermediate",
    minutes=25,
    teaches="Sums of all that came before take as many rounds as the length has bits.",
    task=KernelTask(
        calls=calls,
        limits=Limits(reads_per_block=1, loop_turns=16, float64_instructions=0),
        signature=("float32[::1]", "float32[::1]"),
        parameters=("x", "totals"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("scan_and_warps",),
    tags=("shared memory", "barrier", "scan"),
)
