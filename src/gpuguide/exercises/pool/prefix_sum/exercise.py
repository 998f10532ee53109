"""Running totals within each block, in rounds that double the distance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import FAR, eighths, in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits
from gpuguide.machine.launch import blocks_1d

# How many elements, blocks, and threads per block. Wide blocks take the most rounds, so they are few.
LAUNCHES = (
    (1, 1, 32),
    (5, 6, 1),
    (33, 2, 32),
    (64, 2, 32),
    (31, 2, 96),
    (193, 4, 96),
    (257, 2, 256),
    (257, 257, 1),
    (1031, 33, 32),
    (0, 1, 32),
)


def calls() -> list[Call]:
    """Make launches whose last block has a short part or none, and a long one for a GPU."""
    far = replace(_call(FAR, blocks_1d(FAR, 256), 256), gpu_only=True)
    return [*(_call(*launch) for launch in LAUNCHES), far]


def _call(n: int, blocks: int, threads: int) -> Call:
    # Multiples of 1/8: each sum is exact in any order.
    x = eighths(np.random.default_rng((n, threads)), -99, 999, n)
    # Nothing shows beside these, and a sum from which one is taken away again has lost its digits.
    x[threads - 1 :: 2 * threads] = 2.0**80
    parts = [np.cumsum(x[start : start + threads], dtype=np.float32) for start in range(0, n, threads)]
    label = f"n = {n}, {in_words((blocks,), (threads,))}"
    totals = np.concatenate([x[:0], *parts])
    return Call(label, (blocks,), (threads,), {"x": x, "totals": poisoned(n)}, {"totals": totals})


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
