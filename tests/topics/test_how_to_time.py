"""Clocks and timers on a clock that is made up, the check of a factorisation, and what calms the host."""

import gc
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from page_cells import functions

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import MismatchError
from gpuguide.measure.step_timer import StepTimer
from gpuguide.topics.how_to_time import host
from gpuguide.topics.how_to_time import study as how_to_time


@pytest.mark.parametrize(
    ("row", "column", "by", "problem"),
    [
        (0, 0, 1e-6, "orthonormal"),
        (15, 0, 1e-6, "triangular"),
        (8, 7, 1e-6, "not the matrix"),
        (3, 3, np.nan, "orthonormal"),
    ],
)
def test_each_property_of_a_factorisation_is_checked(row: int, column: int, by: float, problem: str) -> None:
    check = how_to_time.QrCheck()
    a = np.random.default_rng(0).standard_normal((8, 8))
    stacked = how_to_time.qr_numpy(a)
    stacked[row, column] += by
    with pytest.raises(MismatchError, match=problem):
        check.compare(stacked, check.prepare((a,)))


# The step timer ---------------------------------------------------------------------------------------------


def ticking(*times: float) -> Callable[[], float]:
    ticks = iter(times)
    return lambda: next(ticks)


def test_every_moment_belongs_to_the_innermost_step_and_names_add_up() -> None:
    timer = StepTimer(now=ticking(0, 1, 3, 4, 5, 10, 20, 21))
    with timer.step("outer"):
        with timer.step("inner"):
            pass
        with timer.step("outer"):
            pass
    with timer.step("inner"):
        pass
    assert timer.seconds == {"outer": 8, "inner": 3}


def test_a_step_that_raises_is_booked_and_closed() -> None:
    timer = StepTimer(now=ticking(0, 2, 5, 6))
    with pytest.raises(ValueError, match="broken"), timer.step("a"):
        raise ValueError("broken")
    with timer.step("b"):
        pass
    assert timer.seconds == {"a": 2, "b": 1}


def test_the_device_is_waited_for_at_both_ends_of_a_step() -> None:
    events: list[str] = []

    def now() -> float:
        events.append("clock")
        return 0.0

    with StepTimer(lambda: events.append("wait"), now).step("a"):
        events.append("work")
    assert events == ["wait", "clock", "work", "wait", "clock"]


# The clocks of the page ------------------------------------------------------------------------------------

LAUNCH_NS, WORK_NS = 20_000, 50_000


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[dict[str, Any], Callable[[], None]]]:
    """The functions of the page, and work for the GPU."""
    host = FakeHost()
    gpu = FakeGpu(host, launch_ns=LAUNCH_NS, overhead_ns=0, gap_ns=0)
    with gpu.use():
        yield functions("how_to_time", monkeypatch, host, gpu), gpu.kernel(WORK_NS)


def test_a_clock_that_waits_sees_launch_and_work(clocks: tuple[dict[str, Any], Callable[[], None]]) -> None:
    page, work = clocks
    assert page["time_call"](work, 3) == [pytest.approx((LAUNCH_NS + WORK_NS) / 1e9)] * 3


def test_only_behind_a_delay_events_see_the_work_alone(
    clocks: tuple[dict[str, Any], Callable[[], None]],
) -> None:
    page, work = clocks
    assert page["between_events"](work, delay=False) == pytest.approx((LAUNCH_NS + WORK_NS) / 1e9)
    assert page["between_events"](work, delay=True) == pytest.approx(WORK_NS / 1e9)


# What calms the host ----------------------------------------------------------------------------------------


def test_each_remedy_is_at_work_during_its_launches_and_gone_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound: list[set[int]] = [{0, 1, 2}]
    monkeypatch.setattr(host.os, "sched_getaffinity", lambda _: bound[-1], raising=False)
    monkeypatch.setattr(host.os, "sched_setaffinity", lambda _, cpus: bound.append(cpus), raising=False)
    monkeypatch.setattr(host, "WARM_S", 1e-3)
    launched: list[tuple[bool, set[int]]] = []
    waits: list[int] = []
    taken = host.launches(
        lambda: launched.append((gc.isenabled(), bound[-1])), lambda: waits.append(len(launched)), 3
    )
    assert {name: len(seconds) for name, seconds in taken.items()} == dict.fromkeys(host.REMEDIES, 3)
    assert all(0 < s < 1 for seconds in taken.values() for s in seconds)
    # The launches of a sample are those before the last wait.
    assert {(on, len(cpus)) for on, cpus in launched} == {(True, 3), (False, 3), (True, 1), (False, 1)}
    assert (gc.isenabled(), bound[-1]) == (True, {0, 1, 2})
    assert max(after - before for before, after in pairwise(waits)) <= host.N_LAUNCHES
