"""A histogram: many threads add to one bin at the same time."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

BINS = (1, 7, 16, 40)
# Other types, and remainders, would take such values for others that have a bin.
BEYOND = np.array((0, 2**30, -(2**31), 10**9), np.int32)


def calls() -> list[Call]:
    """Make launches with few and with many bins, and with values that have none."""
    return launches_1d(_build, lengths=(1, 0, 31, 256, 1031), blocks=(256, 32, 1, 96))


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # A thread may well go through all bins.
    n_bins = int(rng.choice(BINS if n < 1000 else BINS[1:2]))
    values = rng.integers(-2, n_bins + 2, n, dtype=np.int32)
    values[::5] += rng.choice(BEYOND, values[::5].size)
    # A block's counter of 8 bits would be back at zero.
    values[:256] = values[:256] if n < 256 else n_bins - 1
    counted = values[(values >= 0) & (values < n_bins)]
    arguments = {"values": values, "counts": np.zeros(n_bins, np.int32)}
    return arguments, {"counts": np.bincount(counted, minlength=n_bins).astype(np.int32)}


EXERCISE = Exercise(
    name="histogram",
    title="Counting together",
    level="intermediate",
    minutes=15,
    teaches="Where many threads add to one place, only an atomic addition loses nothing.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, reads_per_element=1),
        signature=("int32[::1]", "int32[::1]"),
        parameters=("values", "counts"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("atomics",),
    tags=("atomics", "race"),
)
