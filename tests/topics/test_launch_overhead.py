"""What launches cost: every way gives the same result, and the clock takes its samples in turns."""

from collections import Counter

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.turns import launches_in_turns
from gpuguide.results.ceilings import Ceilings
from gpuguide.topics.launch_overhead import kernels
from gpuguide.topics.launch_overhead import study as launch_overhead

COUNTS = (1, 3, 8)


def test_every_kind_is_there_for_every_number_of_arrays() -> None:
    kinds = Counter(variant.name.rpartition("_")[0] for variant in launch_overhead.study().variants)
    assert kinds == {
        "once": 3,
        "bare": 3,
        "wrapping": 3,
        "waiting": 3,
        "raw": 3,
        "elementwise": 2,
        "ufunc": 1,
    }


def test_only_what_is_wrapped_once_gets_views() -> None:
    for study in (launch_overhead.study(), launch_overhead.busy_study()):
        for variant in study.variants:
            assert variant.arrays == ("numba" if variant.name.startswith("once") else "cupy")
            assert not variant.batchable


def test_the_largest_is_the_first_array_alone() -> None:
    """No other input is the answer, so a kernel that leaves the first one out fails."""
    first, *others = launch_overhead.study().make_inputs(1024, exact=False)
    assert np.array_equal(first, np.arange(1024))
    assert len(others) == 6
    assert all(bool((other[1:] < first[1:]).all()) for other in others)


def test_launchers_say_how_many_arrays_they_take() -> None:
    for launch in (launch_overhead.launch_once_wrapped, launch_overhead.launch_raw):
        with pytest.raises(ArgumentError, match="n_arrays must be 1, 3 or 8; got 2"):
            launch(*[np.zeros(8, np.float32)] * 8, n_arrays=2)


@needs_compilers()
@pytest.mark.parametrize("n_arrays", COUNTS)
def test_kernels_read_all_inputs_and_write_once(n_arrays: int) -> None:
    from numba import float32

    facts = numba_facts(kernels.KERNELS[n_arrays], (float32[::1],) * n_arrays)
    raw = kernels.RAW_KERNELS[n_arrays]
    for each in (facts, raw_facts(raw.source, raw.name)):
        assert each.spills == 0
        assert (each.count("ld.global"), each.count("st.global")) == (n_arrays - 1, 1)


@needs_compilers()
def test_the_empty_kernels_are_empty() -> None:
    nothing = kernels.RAW_NOTHING
    for facts in (
        numba_facts(kernels.nothing_kernel, ()),
        raw_facts(nothing.source, nothing.name),
    ):
        assert set(facts.instructions) == {"ret"}


class FakeCupy:
    """Keeps what an ElementwiseKernel is made of."""

    ElementwiseKernel = staticmethod(lambda *words: words)


def test_the_elementwise_kernel_takes_all_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "cupy", lambda: FakeCupy)
    make = kernels.elementwise_kernel.__wrapped__
    assert make(3) == ("float32 a, float32 b", "float32 out", "out = max(a, b)", "largest_of_2")
    inputs, _, operation, _ = make(8)
    assert inputs.count("float32") == 7
    assert all(name in operation for name in "abcdefg")


def test_a_delay_goes_ahead_of_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[object] = []
    delay = lambda grid, block, args: log.append(int(args[0]))  # noqa: E731
    monkeypatch.setattr(launch_overhead, "delay_kernel", lambda: delay)
    launch_overhead.behind_a_delay(lambda *arrays: log.append(arrays), "a", "b")
    assert log == [1_000_000, ("a", "b")]


def test_the_sources_size_and_dtype_are_among_those_measured() -> None:
    qr = launch_overhead.qr_study()
    assert {rows**2 for rows in (64, 128, 256, 512, 1024, 2048)} == set(qr.sizes)
    assert qr.dtype == "float32"
    for exact in (True, False):
        (matrix,) = qr.make_inputs(64**2, exact=exact)
        assert matrix.dtype == np.float32
        assert matrix.shape == (64, 64)


# Samples in turns -------------------------------------------------------------------------------------------


def test_each_turn_takes_one_sample_of_each_kind() -> None:
    host = FakeHost()
    gpu = FakeGpu(host)
    calls = {
        "fast": gpu.kernel(1_000, launch_ns=5_000, name="fast"),
        "slow": gpu.kernel(1_000, launch_ns=20_000, name="slow"),
    }
    machine = Machine(gpu, EXAMPLE_DEVICE, {}, lambda: None, host)
    with recording_session(given_machine=machine, ceilings=Ceilings()):
        samples = launches_in_turns(calls, n_turns=4)
    assert samples == {"fast": pytest.approx([5e-6] * 4), "slow": pytest.approx([20e-6] * 4)}
    launched = [name for name in gpu.log if name in calls]
    runs = [name for i, name in enumerate(launched) if i == 0 or name != launched[i - 1]]
    assert len(runs) >= 6, "one kind after the other would be two runs"


def test_without_a_gpu_it_says_so() -> None:
    with recording_session(given_machine=Machine(), ceilings=Ceilings()), pytest.raises(NoGpuError):
        launches_in_turns({"one": lambda: None})


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "waits"), [("once", 0), ("bare", 0), ("wrapping", 0), ("waiting", 3)])
def test_only_one_way_waits_for_the_stream(name: str, waits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts Numba's synchronisations in one launch with three arrays."""
    import cupy as cp
    from numba.cuda.cudadrv.driver import driver

    from gpuguide.machine.backends import numba_view

    arrays = [cp.arange(1024, dtype="f4") for _ in range(8)]
    call = launch_overhead.busy_study().variant(name).call
    if name == "once":
        arrays = [numba_view(x) for x in arrays]
    call(*arrays)
    cp.cuda.Device().synchronize()
    counted: list[object] = []
    synchronize = driver.cuStreamSynchronize
    monkeypatch.setattr(driver, "cuStreamSynchronize", lambda s: (counted.append(s), synchronize(s))[1])
    call(*arrays)
    assert len(counted) == waits
