"""Clocks in turns: counts, order and values, with the fake clocks."""

from types import SimpleNamespace

import pytest
from numba import njit

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure import turns
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.turns import beside_compilation, beside_launches, in_turns, whole_turns
from gpuguide.results.ceilings import Ceilings


def test_both_are_sampled_in_turns():
    host = FakeHost()
    gpu = FakeGpu(host)
    kernel = gpu.kernel(1_000_000, launch_ns=20_000)
    order = []

    def wrong():
        order.append("wrong")
        return 21e-6

    def call():
        order.append("call")
        kernel()

    machine = Machine(gpu, EXAMPLE_DEVICE, {}, lambda: None, host)
    with recording_session(given_machine=machine, ceilings=Ceilings()):
        samples, alone = beside_launches(wrong, call, n_turns=3)
    assert samples == [21e-6] * 3
    assert len(alone) == 3
    turns = "".join("w" if word == "wrong" else "c" for word in order).split("w")
    assert len(turns) == 4
    assert [len(turn) for turn in turns[1:]] == [100] * 3


def test_every_clock_is_read_once_a_turn_in_an_order_that_changes_and_can_be_repeated():
    def order():
        read, host = [], FakeHost()
        clocks = {name: lambda name=name: read.append(name) or len(read) for name in ("a", "bb", "c")}
        machine = Machine(FakeGpu(host), EXAMPLE_DEVICE, {}, lambda: None, host)
        with recording_session(given_machine=machine, ceilings=Ceilings()):
            samples = in_turns(clocks, 6)
        # The first of each does not count.
        assert sorted(number for numbers in samples.values() for number in numbers) == list(range(4, 22))
        return ["".join(read[i : i + 3]) for i in range(3, 21, 3)]

    first = order()
    assert all(sorted(turn) == ["a", "b", "b", "c"] for turn in first)
    assert len(set(first)) > 1
    assert order() == first


def test_what_compiles_is_never_what_was_called_before():
    @njit
    def add(x, y):
        return x + y

    add(1, 2)
    fresh = []

    def wrong(function):
        fresh.append(function)
        assert not function.signatures
        function(3, 4)
        return 0.5

    samples, compilations, calls = beside_compilation(wrong, add, (1, 2), n_turns=2)
    assert samples == [0.5, 0.5]
    assert len(compilations) == len(calls) == 2
    assert len({id(function) for function in fresh}) == 2


class Dispatcher:
    """A function of Numba whose compilation and calls take made-up time."""

    signatures = ("float32",)

    def __init__(self, host, log, *, compiled=True):
        self.host, self.log, self.compiled = host, log, compiled

    def py_func(self):
        """Never called: only handed to the compiler."""

    def compile(self, signature):
        self.log.append(f"compile {signature}")
        self.host.advance(300_000_000)
        self.compiled = True

    def __call__(self):
        if not self.compiled:
            self.compile("in a call")
        self.host.advance(2_000_000)


def test_parts_of_a_clock_that_holds_the_compiler_are_timed_apart_and_in_turns(monkeypatch):
    host, log = FakeHost(), []
    function = Dispatcher(host, log)
    fake = SimpleNamespace(njit=lambda _: Dispatcher(host, log, compiled=False))
    monkeypatch.setattr(turns, "numba", lambda: fake)

    def five_calls(fresh):
        begin = host.now_ns()
        for _ in range(5):
            fresh()
        return (host.now_ns() - begin) / 5e9

    with recording_session(given_machine=Machine(host=host), ceilings=Ceilings()):
        wrong, compilations, calls = beside_compilation(five_calls, function, (), 3)
    assert wrong == pytest.approx([0.062] * 3)
    assert compilations == pytest.approx([0.3] * 3)
    assert calls == pytest.approx([0.002] * 3)
    assert log == ["compile in a call", "compile float32"] * 3


def test_the_first_whole_turn_is_not_counted():
    taken = iter([{"whole": 9.0, "part": 90.0}, {"whole": 2.0, "part": 1.0}, {"whole": 3.0, "part": 2.0}])
    with recording_session(given_machine=Machine(host=FakeHost()), ceilings=Ceilings()):
        assert whole_turns(lambda: next(taken), 2) == {"whole": [2.0, 3.0], "part": [1.0, 2.0]}
        with pytest.raises(ArgumentError, match="n_turns must be at least 1; got 0"):
            whole_turns(dict, 0)


@pytest.mark.parametrize("options", [{"n_turns": 0}, {"n_calls": 0}, {"n_calls": 257}])
def test_counts_that_cannot_be_are_refused(options):
    (name,) = options
    with pytest.raises(ArgumentError, match=f"{name} must be"):
        beside_launches(lambda: 1e-5, lambda: None, **options)


def test_without_a_gpu_it_says_so():
    with recording_session(given_machine=Machine(), ceilings=Ceilings()), pytest.raises(NoGpuError):
        beside_launches(lambda: 1e-5, lambda: None)
