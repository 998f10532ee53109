"""What launches cost: every way gives the same result, and the clock takes its samples in turns."""

from collections.abc import Callable
from contextlib import nullcontext
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, raw_facts
from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.turns import launches_in_turns
from gpuguide.results.ceilings import Ceilings
from gpuguide.topics.launch_overhead import kernels
from gpuguide.topics.launch_overhead import study as launch_overhead

# A hundred launches -----------------------------------------------------------------------------------------


def test_each_rung_is_timed_until_the_gpu_is_done() -> None:
    """One clock for all, on a matrix that is on the GPU already; the GPU's own clock stands beside."""
    clocks = {variant.name: variant.clock for variant in launch_overhead.hundred.variants}
    assert clocks.pop("kernels_alone") == "device"
    assert set(clocks.values()) == {"end_to_end"}
    assert all(variant.arrays == "numba" for variant in launch_overhead.hundred.variants)


@pytest.mark.parametrize("exact", [True, False])
def test_a_hundred_additions_are_exact(exact: bool) -> None:
    (x,) = launch_overhead.hundred.make_inputs(256**2, exact=exact)
    summed = x.copy()
    for _ in range(launch_overhead.LAUNCHES):
        summed += 1
    assert np.array_equal(summed, launch_overhead.hundred.reference(x))
    assert x.shape == (256, 256)
    assert len(np.unique(x)) > 1000


def test_a_single_launch_adds_as_often_as_the_hundred(simulator_python: Callable[..., str]) -> None:
    """The loop in the kernel and the number of launches are two numbers that must agree."""
    snippet = """
import numpy as np
from gpuguide.topics.launch_overhead import study
x = np.zeros((3, 5))
study.one_launch(x)
print(np.unique(x) == study.LAUNCHES)
"""
    assert simulator_python(snippet, timeout=120) == "[ True]\n"


class FakeGraphs:
    """Stands for CuPy: one stream, which notes what is done to it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        stream = SimpleNamespace(
            begin_capture=lambda: self.log.append("begin"),
            end_capture=lambda: (self.log.append("end"), SimpleNamespace(launch=self.launch))[1],
        )
        self.cuda = SimpleNamespace(get_current_stream=lambda: stream)

    def launch(self) -> None:
        self.log.append("launch")


class View(np.ndarray):
    """An array that keeps what it is given, as Numba's views do."""


def test_a_graph_is_captured_once_for_each_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds are addresses: another array needs another graph."""
    fake = FakeGraphs()
    monkeypatch.setattr(launch_overhead, "cp", fake)
    monkeypatch.setattr(launch_overhead, "numba_views", lambda x: fake.log.append("launches"))
    monkeypatch.setattr(launch_overhead, "capture", without_numba(launch_overhead.capture))
    x, y = np.zeros((2, 3)).view(View), np.zeros((2, 3)).view(View)
    for array in (x, x, y):
        launch_overhead.graph(array)
    captured = ["launches", "begin", "launches", "end"]  # compiled beforehand
    assert fake.log == [*captured, "launch", "launch", *captured, "launch"]


def without_numba(capture: FunctionType) -> Callable[[object], object]:
    """The topic's own function, where Numba has nothing to free and makes no arrays."""
    numba = SimpleNamespace(defer_cleanup=nullcontext, device_array_like=lambda x: x)
    return lambda x: FunctionType(capture.__code__, {**capture.__globals__, "cuda": numba})(x)


@needs_compilers()
def test_both_languages_read_and_write_an_element_once() -> None:
    from numba import float64

    facts = numba_facts(kernels.add_one, (float64[:, ::1],))
    for each in (facts, raw_facts(kernels.add_one_source, "add_one")):
        assert each.spills == 0
        assert (each.count("ld.global"), each.count("st.global")) == (1, 1)


# By the arrays ----------------------------------------------------------------------------------------------


def test_the_largest_is_the_first_array_alone() -> None:
    """No other input is the answer, so a kernel that leaves the first one out fails."""
    first, *others = launch_overhead.launches.make_inputs(1024, exact=False)
    assert np.array_equal(first, np.arange(1024))
    assert len(others) == 6
    assert all(bool((other[1:] < first[1:]).all()) for other in others)


@needs_compilers()
@pytest.mark.parametrize(("name", "n_arrays"), [("one_array", 1), ("three_arrays", 3), ("eight_arrays", 8)])
def test_kernels_read_all_inputs_and_write_once(name: str, n_arrays: int) -> None:
    from numba import float32

    facts = numba_facts(getattr(kernels, name), (float32[::1],) * n_arrays)
    for each in (facts, raw_facts(kernels.arrays_source, name)):
        assert each.spills == 0
        assert (each.count("ld.global"), each.count("st.global")) == (n_arrays - 1, 1)


def test_a_delay_goes_ahead_of_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[object] = []
    monkeypatch.setattr(launch_overhead, "delay", lambda grid, block, args: log.append(int(args[0])))
    launch_overhead.behind_a_delay(lambda *arrays: log.append(arrays), "a", "b")
    assert log == [1_000_000, ("a", "b")]


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
@pytest.mark.parametrize(("name", "waits"), [("behind_views", 0), ("behind_cupy_arrays", 0), ("waiting", 3)])
def test_only_one_way_waits_for_the_stream(name: str, waits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts Numba's synchronisations in one launch with three arrays."""
    import cupy as cp
    from numba.cuda.cudadrv.driver import driver

    from gpuguide.machine.backends import numba_view

    arrays = [cp.arange(1024, dtype="f4") for _ in range(8)]
    call = launch_overhead.busy.variant(name).call
    if name == "behind_views":
        arrays = [numba_view(x) for x in arrays]
    call(*arrays)
    cp.cuda.Device().synchronize()
    counted: list[object] = []
    synchronize = driver.cuStreamSynchronize
    monkeypatch.setattr(driver, "cuStreamSynchronize", lambda s: (counted.append(s), synchronize(s))[1])
    call(*arrays)
    assert len(counted) == waits
