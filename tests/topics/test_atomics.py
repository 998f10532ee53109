"""Counting together: no count is lost at any length, and the wrong way is seen to be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.atomics import kernels
from kernel_emulator import as_ctypes, build, needs_host_compiler

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


@needs_host_compiler()
def test_the_kernel_in_cuda_cpp_loses_no_count(tmp_path: Path) -> None:
    source = "struct int4 { int x, y, z, w; };" + kernels.count_source
    library = build(source, {"count": "const int* x, int* counts, long long n"}, tmp_path)
    for n in LENGTHS:
        x = np.random.default_rng(n).integers(0, 256, n).astype(np.int32)
        counts = np.zeros(256, np.int32)
        assert library.run_count(2, 1024, *map(as_ctypes, (x, counts, np.int64(n)))) == 0
        assert (counts == np.bincount(x, minlength=256)).all()


@needs_compilers()
def test_the_keys_of_a_thread_stay_in_registers() -> None:
    from numba import int32, uint32

    for kernel, keys in ((kernels.count_eight, int32[::1]), (kernels.count_bytes, uint32[::1])):
        facts = numba_facts(kernel, (keys, int32[::1]))
        assert (facts.stack_bytes, facts.count("ld.local")) == (0, 0)
