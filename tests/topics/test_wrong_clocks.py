"""Clocks that are wrong in one way each, on a machine that is made up: what each of them sees."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure import turns
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.turns import gpu_clock, in_turns
from gpuguide.results.ceilings import Ceilings
from gpuguide.topics.benchmark_well import wrong_clocks

LAUNCH_NS, WORK_NS, COLD_NS = 20_000, 50_000, 30_000
SECONDS = 1e-9


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGpu]:
    """A GPU with a clear account: a launch, some work, more from a cold cache, and nothing else."""
    host = FakeHost()
    fake = FakeGpu(host, launch_ns=LAUNCH_NS, overhead_ns=0, gap_ns=0)
    monkeypatch.setattr(wrong_clocks, "perf_counter", lambda: host.now * SECONDS)
    with fake.use():
        yield fake


@pytest.fixture
def call(gpu: FakeGpu) -> Callable[[], None]:
    return gpu.kernel(WORK_NS, cold_ns=COLD_NS)


def test_without_waiting_sees_launches_alone(gpu: FakeGpu, call: Callable[[], None]) -> None:
    assert wrong_clocks.without_waiting(call, gpu) == pytest.approx(LAUNCH_NS * SECONDS)
    assert gpu.log == ["synchronize", *["call"] * 100]


def test_ten_calls_wait_for_the_work(gpu: FakeGpu, call: Callable[[], None]) -> None:
    expected = (LAUNCH_NS + COLD_NS + 10 * WORK_NS) / 10
    assert wrong_clocks.ten_calls(call, gpu) == pytest.approx(expected * SECONDS)
    assert gpu.log == ["synchronize", *["call"] * 10, "synchronize"]


def test_ten_calls_hold_a_tenth_of_the_compilation(gpu: FakeGpu, call: Callable[[], None]) -> None:
    compiling = iter([1_000_000_000, *[0] * 9])

    def fresh() -> None:
        gpu.host.advance(next(compiling))
        call()

    call()  # the cache is warm from here on
    gap = wrong_clocks.ten_calls(fresh, gpu) - wrong_clocks.ten_calls(call, gpu)
    assert gap == pytest.approx(0.1)


def test_one_reading_is_launch_and_work_of_one_call(gpu: FakeGpu, call: Callable[[], None]) -> None:
    seconds = wrong_clocks.one_reading(call, gpu)
    assert seconds == pytest.approx((LAUNCH_NS + WORK_NS + COLD_NS) * SECONDS)
    assert gpu.log == ["synchronize", "call", "synchronize"]


def test_work_that_was_queued_before_is_in_no_reading(gpu: FakeGpu, call: Callable[[], None]) -> None:
    clocks = (wrong_clocks.without_waiting, wrong_clocks.ten_calls, wrong_clocks.one_reading)
    call()
    quiet = [clock(call, gpu) for clock in clocks]
    busy = []
    for clock in clocks:
        gpu.kernel(10**9)()
        busy.append(clock(call, gpu))
    assert busy == pytest.approx(quiet)


def test_the_right_clock_sees_the_work_from_the_state_that_was_made(
    gpu: FakeGpu, call: Callable[[], None]
) -> None:
    assert wrong_clocks.device_time(gpu.flush, call, gpu) == pytest.approx((WORK_NS + COLD_NS) * SECONDS)
    assert gpu.log == ["flush", "delay", "record", "call", "record", "pending"]


def test_on_the_same_arrays_a_call_is_warm(gpu: FakeGpu, call: Callable[[], None]) -> None:
    gpu.flush()
    assert wrong_clocks.on_the_same_arrays(call, gpu) == pytest.approx(WORK_NS * SECONDS)


def test_a_memset_comes_right_before_the_delay(gpu: FakeGpu, call: Callable[[], None]) -> None:
    written: list[int] = []

    def fill(value: int) -> None:
        written.append(value)
        gpu.log.append("memset")

    wrong_clocks.after_a_memset(call, gpu, SimpleNamespace(fill=fill))
    assert written == [0]
    assert gpu.log == ["memset", "delay", "record", "call", "record", "pending"]


def test_nothing_puts_the_data_back(gpu: FakeGpu) -> None:
    """The work is what is left of it: much in the first call, little from the second one on."""
    left = [WORK_NS, 1000]

    def call() -> None:
        gpu.kernel(left.pop(0) if len(left) > 1 else left[0])()

    readings = [wrong_clocks.on_what_was_left(call, gpu) for _ in range(3)]
    assert readings == pytest.approx([WORK_NS * SECONDS, 1e-6, 1e-6])


def test_only_the_compilation_is_timed(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def fake_jit(function: str) -> SimpleNamespace:
        gpu.host.advance(5_000)  # making a dispatcher is none of it

        def compile_for(signature: str) -> None:
            compiled.extend([function, signature])
            gpu.host.advance(70_000)

        return SimpleNamespace(compile=compile_for)

    monkeypatch.setattr(wrong_clocks, "cuda", SimpleNamespace(jit=fake_jit))
    kernel = SimpleNamespace(py_func="function")
    assert wrong_clocks.compile_alone(kernel, "void(float32[::1])") == pytest.approx(70e-6)
    assert compiled == ["function", "void(float32[::1])"]


# Turns ------------------------------------------------------------------------------------------------------


@pytest.fixture
def session(gpu: FakeGpu) -> Iterator[FakeGpu]:
    machine = Machine(gpu, EXAMPLE_DEVICE, {}, lambda: None, gpu.host)
    with recording_session(given_machine=machine, ceilings=Ceilings()):
        yield gpu


def test_each_clock_is_read_once_a_turn_in_changing_order(session: FakeGpu) -> None:
    order: list[str] = []

    def reader(name: str, value: float) -> Callable[[], float]:
        return lambda: order.append(name) or value

    taken = in_turns({"a": reader("a", 1.0), "b": reader("b", 2.0), "c": reader("c", 3.0)}, n_turns=12)
    assert taken == {"a": [1.0] * 12, "b": [2.0] * 12, "c": [3.0] * 12}
    rounds = [tuple(order[k : k + 3]) for k in range(0, len(order), 3)]
    assert len(rounds) == 13  # the first one does not count
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len(set(rounds)) > 2


def test_the_first_reading_of_each_does_not_count(session: FakeGpu) -> None:
    values = iter([9.0, 1.0, 2.0])
    assert in_turns({"a": lambda: next(values)}, n_turns=2) == {"a": [1.0, 2.0]}


def test_the_gpu_is_busy_before_and_waited_for_between(session: FakeGpu) -> None:
    begin = session.host.now
    in_turns({"a": lambda: session.log.append("read") or 0.0}, n_turns=2)
    assert session.host.now - begin >= 200_000_000
    assert session.log[0] == "read"
    assert session.log[-4:] == ["read", "synchronize"] * 2


def test_readings_run_on_the_guides_stream(session: FakeGpu) -> None:
    depths: list[int] = []
    outside = session.depth
    in_turns({"a": lambda: depths.append(session.depth) or 0.0}, n_turns=1)
    assert depths == [outside + 1] * 2


@pytest.mark.parametrize(("readings", "n_turns"), [({}, 5), ({"a": float}, 0)])
def test_turns_need_clocks_and_turns(readings: dict[str, Callable[[], float]], n_turns: int) -> None:
    with pytest.raises(ArgumentError, match=f"got {len(readings)} and {n_turns}"):
        in_turns(readings, n_turns)


def test_without_a_gpu_it_says_so() -> None:
    with recording_session(given_machine=Machine(), ceilings=Ceilings()):
        for ask in (gpu_clock, lambda: in_turns({"a": float})):
            with pytest.raises((NoGpuError, ArgumentError), match="GPU"):
                ask()


def test_the_clock_is_that_of_the_studies(session: FakeGpu) -> None:
    assert turns.gpu_clock() is session
