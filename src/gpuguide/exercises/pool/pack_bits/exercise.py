"""Bytes become bits: coalesced loads into shared memory, and reads that keep to different banks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

THREADS = 64
# How many words, and how many blocks: exactly enough, or one more.
LAUNCHES = ((1, 1), (64, 2), (257, 5), (0, 1))


def calls() -> list[Call]:
    """Make launches of blocks of 64 threads."""
    return [*(_call(*launch) for launch in LAUNCHES), replace(_call(2051, 33), gpu_only=True)]


def _call(n: int, blocks: int) -> Call:
    rng = np.random.default_rng((n, blocks))
    crossed = rng.integers(0, 2, 32 * n, dtype=np.uint8)
    crossed[32:64], crossed[64:96] = 1, 0
    words = np.packbits(1 - crossed, bitorder="little").view(np.uint32)
    label = f"n = {n}, {in_words((blocks,), (THREADS,))}"
    arguments = {"crossed": crossed, "words": poisoned(n, np.uint32)}
    return Call(label, (blocks,), (THREADS,), arguments, {"words": words})


EXERCISE = Exercise(
    name="pack_bits",
    title="Bytes into bits",
    level="intermediate",
    minutes=25,
    teaches="Threads that start in different places of shared memory keep out of each other's banks.",
    task=KernelTask(
        calls=calls,
        limits=Limits(sectors_per_request=4, bank_conflicts=1, loop_turns=64),
        signature=("uint8[::1]", "uint32[::1]"),
        parameters=("crossed", "words"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("segmented_sieve",),
    tags=("shared memory", "bank conflict", "coalesced access"),
)
