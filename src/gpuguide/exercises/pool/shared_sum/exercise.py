"""A sum: each block adds up in shared memory and touches the total once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches of at most 18 blocks, whose total is not 0 at first."""
    # The last warp of a block of 100 threads has four.
    return launches_1d(_build, blocks=(32, 100, 256))


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # Too large for single precision to add them up exactly, and some, which are odd, to hold them.
    x = rng.integers(-1_999_999, 2_000_000, n, dtype=np.int32)
    x[::64] += np.where(x[::64] < 0, -(2**24), 2**24).astype(np.int32)
    x[::64] |= 1
    total = rng.integers(1, 99, 1, dtype=np.int32)
    return {"x": x, "total": total}, {"total": total + x.sum(dtype=np.int32)}


EXERCISE = Exercise(
    name="shared_sum",
    title="One queue per block",
    level="intermediate",
    minutes=20,
    teaches="In shared memory a block can first work by itself, if it sets the memory and uses barriers.",
    task=KernelTask(
        calls=calls,
        limits=Limits(atomics_per_block=1, loop_turns=16),
        signature=("int32[::1]", "int32[::1]"),
        parameters=("x", "total"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("shared_memory", "atomics"),
    tags=("shared memory", "atomics", "barrier", "reduction"),
)
