"""A scalar product: added up in registers, then across a warp, then in memory, once per warp."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import dealt_out, eighths
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches of whole warps with too few threads, enough, and too many."""
    return dealt_out(_build, spare_turns=15, blocks=(32, 96, 256))


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # Multiples of 1/8, and one of them small: the sum is exact in any order.
    a, b = eighths(rng, -300, 301, n), eighths(rng, -1, 2, n)
    a[::97], b[::97] = 0.125, 256.125  # which half precision cannot hold
    total = eighths(rng, 1, 99, 1)
    return {"a": a, "b": b, "total": total}, {"total": total + (a * b).sum()}


EXERCISE = Exercise(
    name="dot",
    title="Sums across a warp",
    level="intermediate",
    minutes=25,
    teaches="Add up in registers first, then across the warp, and go to memory once per warp.",
    task=KernelTask(
        calls=calls,
        limits=Limits(atomics_per_warp=1, float64_instructions=0),
        signature=("float32[::1]", "float32[::1]", "float32[::1]"),
        parameters=("a", "b", "total"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("scan_and_warps",),
    tags=("warp", "reduction", "atomics", "grid"),
)
