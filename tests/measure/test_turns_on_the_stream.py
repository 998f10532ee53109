"""Readings in turns on the guide's stream: their order, what does not count, and who waits."""

from collections.abc import Callable, Iterator

import pytest

from fake_clock import FakeGpu
from gpuguide.errors import ArgumentError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.turns import gpu_clock, in_turns
from gpuguide.results.ceilings import Ceilings


@pytest.fixture
def session() -> Iterator[FakeGpu]:
    gpu = FakeGpu()
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
    assert gpu_clock() is session
