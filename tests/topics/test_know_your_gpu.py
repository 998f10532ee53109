"""Memory by mixes of reads and writes, levels of memory, and long runs: what their kernels promise."""

from collections.abc import Callable

import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.know_your_gpu import kernels, levels, sustained


@needs_compilers()
@pytest.mark.parametrize(
    ("kernel", "arrays", "loads", "stores"),
    [
        (kernels.write, 1, 0, 4),
        (kernels.copy, 2, 5, 5),
        (kernels.two_to_one, 3, 10, 5),
        (kernels.read, 2, 16, 1),
    ],
    ids=["write", "copy", "two_to_one", "read"],
)
def test_kernels_compile(kernel: Callable[..., None], arrays: int, loads: int, stores: int) -> None:
    from numba import float32

    facts = numba_facts(kernel, (float32[::1],) * arrays)
    assert facts.count("ld.global") >= loads
    assert (facts.count("ld.global") == 0) == (loads == 0)
    assert facts.count("st.global") >= stores
    assert facts.count("cvt.rn.f64") == 0, "no double precision by accident"


@needs_compilers()
def test_a_chase_does_nothing_but_wait_for_loads() -> None:
    """None of them from the L1 cache, and none with arithmetic in between."""
    facts = raw_facts(levels.chase_source, "chase")
    assert facts.count("ld.global.cg.u64") == 17  # sixteen in a turn, and one for the rest
    assert facts.count("ld.global") - facts.count("ld.global.cg") == 1  # where it begins
    facts = raw_facts(levels.chase_source, "chase_shared")
    assert facts.count("ld.shared") == 17
    assert facts.count("add") <= 8


@needs_compilers()
@pytest.mark.parametrize(("name", "loads"), [("read_l2", "ld.global.cg.v4"), ("read_shared", "ld.shared.v4")])
def test_kernels_that_read_fill_a_multiprocessor(name: str, loads: str) -> None:
    facts = raw_facts(levels.read_source, name)
    assert facts.spills == 0
    assert facts.registers * levels.THREADS * levels.BLOCKS_PER_MULTIPROCESSOR <= 65_536
    assert facts.count(loads) >= 4


@needs_compilers()
def test_multiply_adds_are_all_there() -> None:
    facts = raw_facts(sustained.multiply_adds_source, "multiply_adds")
    assert facts.count("fma.rn.f32") == sustained.CHAINS * sustained.REPEATS
    assert facts.spills == 0
    assert sustained.REPEATS * sustained.TURNS % 2 == 1, "or chains end where they began"
