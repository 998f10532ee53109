"""Two recipes in turn: threads of a warp that go different ways wait for each other."""

from __future__ import annotations

import numpy as np

from gpuguide.exercises.cases import poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# Elements, blocks and threads per block. In a handful of warps the seams would be all there is.
LAUNCHES = (
    (1, 1, 1),
    (255, 1, 256),
    (256, 8, 32),
    (257, 3, 96),
    (384, 4, 96),
    (512, 2, 256),
    (521, 17, 32),
    (0, 1, 32),
)


def calls() -> list[Call]:
    """Make launches of many warps, in which a seam or two weigh little."""
    return [_call(*launch) for launch in LAUNCHES]


def _call(n: int, grid: int, threads: int) -> Call:
    x = np.random.default_rng(n).integers(0, 1000, n, dtype=np.int32)
    expected = x.copy()
    for _ in range(8):
        expected[::2] = (3 * expected[::2] + 1) % 1000
        expected[1::2] = (expected[1::2] ** 2 + 1) % 1000
    arguments = {"x": x, "out": poisoned(n, np.int32)}
    label = f"n = {n}, blocks of {threads}, a grid of {grid}"
    return Call(label, (grid,), (threads,), arguments, {"out": expected})


EXERCISE = Exercise(
    name="divergence",
    title="Warps that agree",
    level="intermediate",
    minutes=15,
    teaches="All threads of a warp walk through each branch that one of them takes: sort the work by branch.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, divergent_branches=0.3),
        signature=("int32[::1]", "int32[::1]"),
        parameters=("x", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("divergence",),
    tags=("warp", "branch"),
)
