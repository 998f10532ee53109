"""Three passes over arrays in one: intermediate results stay in a register."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths, in_words, launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches on multiples of 1/8, for which each step is exact, and one on any numbers."""
    return [*launches_1d(_build), _rounded()]


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # Large, and x and y near to each other: half precision would lose the digits that matter.
    x, y, weight = (eighths(rng, 300, 300 + width, n) for width in (3, 3, 19))
    weight[::2] *= -1
    expected = (x - y) ** 2 * weight
    return {"x": x, "y": y, "weight": weight, "out": poisoned(n)}, {"out": expected}


def _rounded() -> Call:
    # The squares of x and y have no digits left for that of a small difference, so they are no way to it.
    rng, n, block = np.random.default_rng(1000), 64, (32,)
    x = rng.uniform(1000, 1001, n).astype(np.float32)
    y = (x + rng.uniform(-1, 1, n)).astype(np.float32)
    weight = rng.uniform(1, 3, n).astype(np.float32)
    expected = (x.astype(np.float64) - y) ** 2 * weight
    # A few roundings to 24 places: a power of the GPU is off by some more than a product is.
    tolerance = 16 * float(np.abs(expected).max()) * 2.0**-24
    arguments = {"x": x, "y": y, "weight": weight, "out": poisoned(n)}
    label = f"n = {n}, x near y, {in_words((2,), block)}"
    return Call(label, (2,), block, arguments, {"out": expected.astype(np.float32)}, tolerance)


EXERCISE = Exercise(
    name="fusion",
    title="Three passes in one",
    level="intermediate",
    minutes=10,
    teaches="Keep intermediate results in a variable: each pass over an array is traffic.",
    task=KernelTask(
        calls=calls,
        limits=Limits(reads_per_element=1, writes_per_element=1, loop_turns=2),
        signature=("float32[::1]",) * 4,
        parameters=("x", "y", "weight", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("ufuncs", "fusion", "kernel_families", "memory_pools"),
    tags=("registers", "memory", "CuPy"),
)
