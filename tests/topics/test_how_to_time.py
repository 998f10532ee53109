"""Clocks and timers, by clocks that are made up, and the operations that they are held against."""

from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.measure.step_timer import StepTimer
from gpuguide.topics.how_to_time import kernels, six_clocks
from gpuguide.topics.how_to_time import study as how_to_time

# The operations ---------------------------------------------------------------------------------------------


@needs_compilers()
def test_the_kernel_compiles() -> None:
    from numba import float64

    facts = numba_facts(kernels.add_one_kernel, (float64[::1], float64[::1]))
    assert (facts.spills, facts.count("ld.global"), facts.count("st.global")) == (0, 1, 1)


def spoiled_qr(row: int, column: int, by: float) -> tuple[np.ndarray, np.ndarray]:
    a = np.random.default_rng(0).standard_normal((8, 8))
    stacked = how_to_time.qr_numpy(a)
    stacked[row, column] += by
    return a, stacked


@pytest.mark.parametrize(
    ("row", "column", "problem"), [(0, 0, "orthonormal"), (15, 0, "triangular"), (8, 7, "not the matrix")]
)
def test_each_property_of_a_factorisation_is_checked(row: int, column: int, problem: str) -> None:
    check = how_to_time.QrCheck()
    a, stacked = spoiled_qr(row, column, 1e-6)
    with pytest.raises(MismatchError, match=problem):
        check.compare(stacked, check.prepare((a,)))


def test_a_factorisation_with_not_a_number_is_rejected() -> None:
    check = how_to_time.QrCheck()
    a, stacked = spoiled_qr(3, 3, float("nan"))
    with pytest.raises(MismatchError):
        check.compare(stacked, check.prepare((a,)))


def test_the_sources_sizes_and_dtype_are_among_those_measured() -> None:
    assert 65_536 in how_to_time.study().sizes
    assert 512**2 in how_to_time.qr_study().sizes
    assert how_to_time.study().dtype == how_to_time.qr_study().dtype == "float64"


# The step timer ---------------------------------------------------------------------------------------------


def ticking(*times: float) -> Callable[[], float]:
    ticks = iter(times)
    return lambda: next(ticks)


def test_a_name_that_comes_back_gets_its_own_time() -> None:
    timer = StepTimer(now=ticking(0, 1, 1, 5, 5, 7))
    for name in ("copy", "work", "copy"):
        with timer.step(name):
            pass
    assert timer.seconds == {"copy": 3, "work": 4}


def test_every_moment_belongs_to_the_innermost_step() -> None:
    timer = StepTimer(now=ticking(0, 1, 3, 4, 5, 10))
    with timer.step("outer"):
        with timer.step("inner"):
            pass
        with timer.step("outer"):
            pass
    assert timer.seconds == {"outer": 8, "inner": 2}


def test_time_between_steps_is_nobodys() -> None:
    timer = StepTimer(now=ticking(0, 1, 100, 103))
    with timer.step("a"):
        pass
    with timer.step("b"):
        pass
    assert timer.seconds == {"a": 1, "b": 3}


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


# The clocks -------------------------------------------------------------------------------------------------


@pytest.fixture
def microseconds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A host's clock that moves by 1 s at each reading, and a log of what else happened."""
    ticks = count()
    monkeypatch.setattr(six_clocks, "perf_counter", lambda: float(next(ticks)))
    return []


def test_without_synchronising_never_waits_inside_the_clock(microseconds: list[str]) -> None:
    log = microseconds
    samples = six_clocks.without_synchronising(lambda: log.append("call"), lambda: log.append("wait"), 2)
    assert samples == [0.01, 0.01]
    assert log == ["wait", *["call"] * 100, "wait", *["call"] * 100, "wait"]


def test_with_synchronising_waits_inside_the_clock(microseconds: list[str]) -> None:
    log = microseconds
    samples = six_clocks.with_synchronising(lambda: log.append("call"), lambda: log.append("wait"), 2)
    assert samples == [1.0, 1.0]
    assert log == ["wait", "call", "wait"] * 2


def test_with_the_first_call_makes_a_fresh_call_for_each_sample(microseconds: list[str]) -> None:
    made: list[int] = []

    def make_call() -> Callable[[], None]:
        made.append(0)
        return lambda: made.__setitem__(-1, made[-1] + 1)

    samples = six_clocks.with_the_first_call(make_call, lambda: None, 3)
    assert samples == [0.2, 0.2, 0.2]
    assert made == [5, 5, 5]


@pytest.mark.parametrize("clock", ["without_synchronising", "with_synchronising", "with_the_first_call"])
def test_clocks_want_at_least_one_sample(clock: str) -> None:
    with pytest.raises(ArgumentError, match="at least 1; got 0"):
        getattr(six_clocks, clock)(lambda: None, lambda: None, 0)


def test_the_guides_own_clock_says_that_it_needs_a_gpu(fresh_python: Callable[..., str]) -> None:
    snippet = """
from gpuguide.topics.how_to_time.six_clocks import behind_a_delay
try:
    behind_a_delay(lambda: None)
except ValueError as error:
    print(error)
"""
    assert "needs a GPU" in fresh_python(snippet, NUMBA_ENABLE_CUDASIM="1")
