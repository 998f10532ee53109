"""Wrong clock and launches in turns: counts, order and values, with the fake clocks."""

import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, NoGpuError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.session import Machine, recording_session
from gpuguide.measure.turns import beside_launches
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


@pytest.mark.parametrize("options", [{"n_turns": 0}, {"n_calls": 0}, {"n_calls": 257}])
def test_counts_that_cannot_be_are_refused(options):
    (name,) = options
    with pytest.raises(ArgumentError, match=f"{name} must be"):
        beside_launches(lambda: 1e-5, lambda: None, **options)


def test_without_a_gpu_it_says_so():
    with recording_session(given_machine=Machine(), ceilings=Ceilings()), pytest.raises(NoGpuError):
        beside_launches(lambda: 1e-5, lambda: None)
