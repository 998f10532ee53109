"""Clocks in turns, with the fake clocks: counts, order and values, what does not count, and who waits."""

from types import SimpleNamespace

import numpy as np
import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.machine.memory import HOST, Space
from gpuguide.measure import turns
from gpuguide.measure.plan import Variant
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.study import Study
from gpuguide.measure.turns import (
    beside_compilation,
    beside_launches,
    gpu_clock,
    in_turns,
    launches_in_turns,
    measure_map,
    whole_turns,
)
from gpuguide.results.ceilings import Ceilings


@pytest.fixture
def gpu():
    """A fake GPU that is the session's."""
    gpu = FakeGpu()
    spaces = {"host": HOST, "device": Space("device", np)}
    machine = Machine(gpu, EXAMPLE_DEVICE, spaces, lambda: None, gpu.host)
    with recording_session(given_machine=machine, ceilings=Ceilings()):
        assert gpu_clock() is gpu
        yield gpu


def order_of_turns():
    read = []
    taken = in_turns({name: lambda name=name: read.append(name) or len(read) for name in ("a", "bb", "c")}, 6)
    # The first of each does not count.
    assert sorted(number for numbers in taken.values() for number in numbers) == list(range(4, 22))
    return [tuple(read[i : i + 3]) for i in range(3, 21, 3)]


def test_each_clock_is_read_once_a_turn_in_an_order_that_changes_and_can_be_repeated(gpu):
    first = order_of_turns()
    assert all(sorted(turn) == ["a", "bb", "c"] for turn in first)
    assert len(set(first)) > 1
    assert order_of_turns() == first


def test_the_gpu_is_busy_before_and_waited_for_between(gpu):
    begin = gpu.host.now
    in_turns({"a": lambda: gpu.log.append("read") or gpu.depth}, n_turns=2)
    assert gpu.host.now - begin >= 200_000_000
    assert gpu.log[-4:] == ["read", "synchronize"] * 2


def test_a_wrong_clock_and_the_launch_are_sampled_in_turns(gpu):
    kernel, order = gpu.kernel(1_000_000, launch_ns=20_000), []
    samples, alone = beside_launches(
        lambda: order.append("w") or 21e-6, lambda: order.append("c") or kernel(), n_turns=3
    )
    assert (samples, alone) == ([21e-6] * 3, [20e-6] * 3)
    assert [len(turn) for turn in "".join(order).split("w")[1:]] == [100] * 3


def test_launches_are_the_hosts_part_of_each_call(gpu):
    calls = {"a": gpu.kernel(500), "b": gpu.kernel(5_000_000, launch_ns=9_000)}
    assert launches_in_turns(calls, 4) == {"a": [3e-6] * 4, "b": [9e-6] * 4}


class Dispatcher:
    """A function of Numba that takes 300 ms to compile, by a call or without one, and then 2 ms a call."""

    signatures, py_func = ("float32",), None

    def __init__(self, host, log):
        self.host, self.log, self.compiled = host, log, False

    def compile(self, signature):
        self.log.append(signature)
        self.host.advance(300_000_000)
        self.compiled = True

    def __call__(self):
        if not self.compiled:
            self.compile("in a call")
        self.host.advance(2_000_000)


def test_parts_of_a_clock_that_holds_the_compiler_are_timed_apart_and_in_turns(gpu, monkeypatch):
    host, log = gpu.host, []
    monkeypatch.setattr(turns, "numba", lambda: SimpleNamespace(njit=lambda _: Dispatcher(host, log)))
    function = Dispatcher(host, [])
    function()

    def five_calls(fresh):
        begin = host.now_ns()
        for _ in range(5):
            fresh()
        return (host.now_ns() - begin) / 5e9

    parts = beside_compilation(five_calls, function, (), 3)
    assert parts == tuple(pytest.approx([seconds] * 3) for seconds in (0.062, 0.3, 0.002))
    assert log == ["in a call", "float32"] * 3


def test_the_first_whole_turn_is_not_counted(gpu):
    taken = iter([{"whole": 9.0, "part": 90.0}, {"whole": 2.0, "part": 1.0}, {"whole": 3.0, "part": 2.0}])
    assert whole_turns(lambda: next(taken), 2) == {"whole": [2.0, 3.0], "part": [1.0, 2.0]}


def test_a_map_has_one_checked_sample_of_each_variant_a_round(gpu):
    def variant(name, ns):
        kernel = gpu.kernel(ns, name=name)
        return Variant(name, lambda x, out: (kernel(), np.add(x, 1, out=out)))

    inputs = lambda n, dtype, rng, exact: (rng.integers(-8, 8, n).astype(dtype),)  # noqa: E731
    variants = (variant("a", 4_000), variant("b", 300_000))
    study = Study("add", "Add one", variants, (1000,), inputs=inputs, reference=lambda x: x + 1)
    assert measure_map(study, 1000, 3) == {"a": (6e-6,) * 3, "b": (302e-6,) * 3}


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: beside_launches(float, lambda: None, n_calls=257), "n_calls must be"),
        (lambda: in_turns({"a": float}, 0), "n_turns must be"),
        (lambda: in_turns({}), "at least one clock"),
    ],
)
def test_counts_that_cannot_be_are_refused(gpu, call, name):
    with pytest.raises(ArgumentError, match=name):
        call()


def test_without_a_gpu_it_says_so():
    nothing = recording_session(given_machine=Machine(host=FakeHost()), ceilings=Ceilings())
    with nothing, pytest.raises((NoGpuError, ArgumentError), match="GPU"):
        in_turns({"a": float})
