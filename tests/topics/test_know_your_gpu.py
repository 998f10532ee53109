"""Memory by mixes of reads and writes: kernels, checks, traffic."""

from collections.abc import Callable

import numpy as np
import pytest
from spoiled import assert_rejects
from topic_sizes import SIZES, in_simulator

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.topics.know_your_gpu import kernels, reading
from gpuguide.topics.know_your_gpu import study as know_your_gpu

BYTES = tuple(4 * size for size in (*SIZES, 1025))
TILES = tuple(4 * size for size in (0, 1, 31, 257, 1009, 4096, 4097))
LAUNCHERS = (know_your_gpu.write, know_your_gpu.copy, know_your_gpu.two_to_one)


def test_mixes_equal_the_reference_in_the_simulator(fresh_python: Callable[..., str]) -> None:
    count, names = in_simulator(fresh_python, "know_your_gpu.study", BYTES)
    assert names == ["copy", "two_to_one", "write"]
    assert count == len(BYTES) * 2 * len(names)


def test_block_sums_equal_the_reference_in_the_simulator(fresh_python: Callable[..., str]) -> None:
    count, names = in_simulator(fresh_python, "know_your_gpu.reading", TILES)
    assert (count, names) == (2 * len(TILES), ["read"])


def test_the_studies_reject_wrong_variants() -> None:
    assert_rejects(know_your_gpu.study(), know_your_gpu.pattern_reference, 4 * 257)
    assert_rejects(reading.study(), reading.block_sums_reference, 4 * 20_000, tolerance=True)


def test_one_array_can_be_had_in_three_ways() -> None:
    a, b = know_your_gpu.study().make_inputs(4 * 100_000, exact=False)
    assert bool((np.maximum(a, b) == a).all())
    assert bool((a == np.arange(100_000) % 2**24).all())
    assert bool((b < a)[1:].all()), "the second array alone must not be the answer"


def test_a_mismatch_names_the_first_wrong_element() -> None:
    check = EqualCheck(lambda x: x + 1)
    prepared = check.prepare((np.arange(4.0),))
    with pytest.raises(MismatchError, match=r"element at 2 is wrong: expected 3\.0, got nan"):
        check.compare(np.array([1, 2, np.nan, 5]), prepared)
    with pytest.raises(MismatchError, match="shape"):
        check.compare(np.ones(3), prepared)


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda launcher: launcher.__name__)
def test_launchers_say_what_they_take(launcher: Callable[..., None]) -> None:
    x = np.zeros(8, np.float32)
    for arrays in ((x, x, x[:4]), (x, x, np.zeros(8)), (x.reshape(2, 4),) * 3, (x[:4], x, x)):
        with pytest.raises(ArgumentError, match="one-dimensional float32 arrays of one length"):
            launcher(*arrays)


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda launcher: launcher.__name__)
def test_launchers_do_nothing_for_empty_arrays(launcher: Callable[..., None]) -> None:
    launcher(*[np.empty(0, np.float32)] * 3)
    reading.block_sums(np.empty(0, np.float32), np.empty(0, np.float32))


def test_block_sums_says_how_many_places_it_needs() -> None:
    x = np.zeros(5000, np.float32)
    for a, out in ((x, x[:1]), (x, np.zeros(2)), (x.astype(np.float64), x[:2]), (x.reshape(2, -1), x[:2])):
        with pytest.raises(ArgumentError, match="2 places for 5000 elements"):
            reading.block_sums(a, out)


@needs_compilers()
@pytest.mark.parametrize(
    ("kernel", "arrays", "loads", "stores"),
    [
        (kernels.write_kernel, 1, 0, 4),
        (kernels.copy_kernel, 2, 5, 5),
        (kernels.two_to_one_kernel, 3, 10, 5),
        (kernels.block_sums_kernel, 2, 16, 1),
    ],
    ids=["write", "copy", "two_to_one", "read"],
)
def test_kernels_compile(kernel: Callable[..., None], arrays: int, loads: int, stores: int) -> None:
    from numba import float32

    facts = numba_facts(kernel, (float32[::1],) * arrays)
    assert facts.spills == 0
    assert facts.registers <= 64
    assert facts.count("ld.global") >= loads
    assert (facts.count("ld.global") == 0) == (loads == 0)
    assert facts.count("st.global") >= stores
    assert facts.count("cvt.rn.f64") == 0, "no double precision by accident"


def test_the_traffic_follows_from_the_bytes() -> None:
    float32 = np.dtype("float32")
    counts = [
        (traffic.bytes_read, traffic.bytes_written)
        for traffic in (
            know_your_gpu.write_traffic(4096, float32),
            know_your_gpu.copy_traffic(4096, float32),
            know_your_gpu.two_to_one_traffic(4096, float32),
            reading.block_sums_traffic(2**20, float32),
        )
    ]
    assert counts == [(0, 4096), (4096, 4096), (8192, 4096), (2**20, 256)]


@pytest.mark.gpu
@pytest.mark.parametrize("make", [know_your_gpu.study, reading.study])
def test_all_variants_equal_the_reference_on_the_gpu(make: Callable[[], know_your_gpu.Study]) -> None:
    report = make().check_all((*BYTES, 4 * 4095, 4 * 4096, 4 * 4097, 2**26, 2**26 + 4))
    assert not report.skipped
