"""Counting together: no count is lost at any length, and the wrong way is seen to be wrong."""

from __future__ import annotations

import numpy as np
import pytest

import gpuguide as gg
from gpuguide.topics.atomics import kernels

LENGTHS = (0, 1, 31, 32, 33, 255, 256, 257, 1009, 5003)
DRAWS = {
    "spread": lambda rng, n: rng.integers(0, 256, n),
    "one bin": lambda rng, n: np.full(n, 255),
    "both ends": lambda rng, n: 255 * rng.integers(0, 2, n),
}


@pytest.mark.parametrize("keys", DRAWS)
@pytest.mark.parametrize("name", ["count_global", "count_shared", "count_eight"])
def test_no_count_is_lost(name: str, keys: str) -> None:
    for n in LENGTHS:
        x = DRAWS[keys](np.random.default_rng(n), n).astype(np.int32)
        counts = np.zeros(256, np.int32)
        blocks = max(1, -(-n // 256)) if name == "count_global" else 2
        trace = gg.trace(getattr(kernels, name)[blocks, 256], x, counts, inputs=["x"], most_threads=10**6)
        assert trace.passed, trace
        assert (counts == np.bincount(x, minlength=256)).all()


def test_each_byte_of_a_word_is_counted() -> None:
    for n in LENGTHS:
        words = np.random.default_rng(n).integers(0, 2**32, n, dtype=np.uint32)
        counts = np.zeros(256, np.int32)
        trace = gg.trace(kernels.count_bytes[2, 256], words, counts, inputs=["words"])
        assert trace.passed, trace
        assert (counts == np.bincount(words.view(np.uint8), minlength=256)).all()


def test_without_atomics_the_tracer_sees_the_race() -> None:
    x, counts = np.full(64, 3, np.int32), np.zeros(256, np.int32)
    (finding, *_) = gg.trace(kernels.without_atomics[2, 32], x, counts).findings
    assert (finding.kind, finding.array, finding.element) == ("race", "counts", (3,))
