"""A smoothed signal: a tile in shared memory that reaches over both ends of the block."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths, launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# Weights for each length of the signal.
WIDTHS = {0: 3, 1: 17, 31: 1, 32: 5, 33: 17, 255: 3, 256: 9, 257: 17, 1031: 3}


def calls() -> list[Call]:
    """Make launches of at most 10 blocks, with weights that are not the same backwards."""
    return launches_1d(_build, lengths=WIDTHS, blocks=(64, 96, 256))


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # Multiples of 1/8: the sum is exact in any order.
    x = eighths(rng, -400, 401, n)
    weights = rng.permutation(17)[: WIDTHS.get(n, 17)].astype(np.float32) / 8 + 1
    weights[weights.size // 3] += 256  # half precision would lose its fraction
    weights *= rng.choice(np.array([-1, 1], np.float32), weights.size)
    radius = weights.size // 2
    expected = np.convolve(np.pad(x, radius), weights, mode="valid") if n else x
    return {"x": x, "weights": weights, "out": poisoned(n)}, {"out": expected}


EXERCISE = Exercise(
    name="convolution_1d",
    title="Smoothing from a tile",
    level="intermediate",
    minutes=30,
    teaches="What neighbouring threads share is fetched once into shared memory, with a margin at both ends.",
    task=KernelTask(
        calls=calls,
        limits=Limits(reads_per_block=1, loop_turns=40, float64_instructions=0),
        signature=("float32[::1]", "float32[::1]", "float32[::1]"),
        parameters=("x", "weights", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("convolution_ladder",),
    tags=("shared memory", "stencil", "convolution"),
)
