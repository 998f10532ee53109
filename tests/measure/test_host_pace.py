"""The host's pace: what is judged, by what, and that the choice does not bend a number."""

from __future__ import annotations

import statistics
from bisect import bisect_right

import numpy as np
import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.machine.device import EXAMPLE_DEVICE, ClockReading
from gpuguide.machine.memory import HOST, Space
from gpuguide.measure.host_pace import MIN_ALONE, SHARED_NOTE, TRIES, HostPace, taken_alone
from gpuguide.measure.plan import Variant
from gpuguide.measure.session import Machine, Session, recording_session
from gpuguide.measure.study import Study
from gpuguide.measure.timing import HostTimer, collect, host_timer, launch_timer
from gpuguide.measure.turns import in_turns, whole_turns
from gpuguide.results.ceilings import Ceilings

MS = 1_000_000


def time_host(call, n_samples, host):
    return collect(host_timer(call, host=host), n_samples)


def phases(quiet_ms, shared_ms, factor=1.7):
    """Return how slow the host is at a time: quiet and shared phases of these lengths take turns."""
    return lambda now: 1.0 if now % ((quiet_ms + shared_ms) * MS) < quiet_ms * MS else factor


def random_phases(seed, quiet_ms=7.0, shared_ms=5.0):
    """Return phases of random lengths, each shared one slower by another factor; the first one is quiet."""
    rng = np.random.default_rng(seed)
    ends, factors = [], []
    end = 0.0
    for i in range(20_000):
        end += rng.exponential(shared_ms if i % 2 else quiet_ms) * MS
        ends.append(end)
        factors.append(rng.uniform(1.4, 2.0) if i % 2 else rng.uniform(1.0, 1.1))
    return lambda now: factors[bisect_right(ends, now)]


class TestLoop:
    """Reading and judging."""

    def test_a_reading_is_the_better_of_two(self):
        ticks = iter([0, 50, 100, 130])
        assert HostPace(lambda: next(ticks), lambda: None, n_learning=0).read() == 30

    def test_the_best_time_is_learnt_first(self):
        ticks = iter([0, 40, 100, 120, 200, 240, 300, 340])
        pace = HostPace(lambda: next(ticks), lambda: None, n_learning=2)
        assert pace.read() == 40
        assert pace.best_ns == 20

    @pytest.mark.parametrize(("reading", "alone"), [(1_000, True), (1_200, True), (1_201, False)])
    def test_alone_is_within_a_fifth_of_the_best(self, reading, alone):
        pace = HostPace(lambda: 0)
        pace.best_ns = 1_000
        assert pace.is_alone(reading) is alone

    def test_samples_are_judged_by_what_is_known_in_the_end(self):
        pace = HostPace(lambda: 0)
        readings = [1_000] * 5 + [1_700] * 3
        pace.best_ns = 1_700
        assert pace.kept(readings) == (list(range(8)), False)
        pace.best_ns = 1_000
        assert pace.kept(readings) == (list(range(5)), False)

    def test_fewer_than_five_alone_are_not_enough_to_leave_others_out(self):
        pace = HostPace(lambda: 0)
        pace.best_ns = 1_000
        assert pace.kept([1_000] * (MIN_ALONE - 1) + [1_700]) == (list(range(MIN_ALONE)), True)
        assert pace.kept([1_000] * 2) == ([0, 1], False)
        assert pace.kept([]) == ([], False)

    def test_what_is_taken_again_is_never_chosen_by_its_own_value(self):
        pace = HostPace(lambda: 0)
        pace.best_ns = 1_000
        left = [(9, 1_700), (1, 1_500), (5, 1_100), (7, 1_000)]
        assert taken_alone(lambda: left.pop(0), pace) == (5, 1_100)
        left = [(i, 1_700) for i in range(9)]
        assert taken_alone(lambda: left.pop(0), pace) == (TRIES - 1, 1_700)
        assert (pace.n_samples, pace.n_in_company) == (3 + TRIES, 2 + TRIES)


class TestTimers:
    """Who is taken beside the loop, and how often."""

    def test_the_median_of_launches_comes_out_although_the_host_slows_by_phases(self):
        """The true launch takes 3 us; the median of all samples would be up to twice that."""
        for seed in range(5):
            host = FakeHost(slowness=random_phases(seed))
            gpu = FakeGpu(host)
            samples = collect(launch_timer(gpu.kernel(500), gpu, host=host), 60)
            launch_ns = statistics.median(samples.ns) / samples.n_calls
            assert 3_000 <= launch_ns <= 3_000 * 1.1
            assert SHARED_NOTE not in samples.notes

    def test_without_the_loop_the_same_host_would_bend_the_median(self):
        """The test above shows something only if this host does slow what nobody watches."""
        host = FakeHost(slowness=random_phases(0, quiet_ms=7, shared_ms=14))
        timer = host_timer(host.work(3_000), host=host, threads=8)
        taken = [timer.sample() / timer.n_calls for _ in range(60)]
        assert statistics.median(taken) > 3_000 * 1.3
        host = FakeHost(slowness=random_phases(0, quiet_ms=7, shared_ms=14))
        assert statistics.median(time_host(host.work(3_000), n_samples=60, host=host).seconds) < 3.3e-6

    def test_a_slow_sample_in_a_quiet_phase_is_kept_and_not_taken_again(self):
        host = FakeHost(slowness=lambda now: 1.0)
        calls = []
        work = host.work(*([2 * MS] * 4 + [9 * MS] * 3 + [2 * MS]))

        def call():
            calls.append(host.now)
            work()

        samples = time_host(call, n_samples=10, host=host)
        assert samples.ns == (2 * MS,) * 2 + (9 * MS,) * 3 + (2 * MS,) * 5
        assert len(calls) == 2 + 10
        assert host.pace.n_in_company == 0

    def test_a_quick_sample_in_a_shared_phase_is_taken_again(self):
        """Were its own time asked, it would be kept: it is the quickest of all."""
        host = FakeHost(slowness=phases(50, 50))
        timer = host_timer(host.work(1 * MS), host=host)
        while host.now < 50 * MS:
            timer.sample()
        before = host.pace.n_samples
        timer.call = host.work(1_000)
        timer.sample()
        assert host.pace.n_samples == before + TRIES

    def test_all_are_kept_and_the_reader_is_told_when_too_few_were_alone(self):
        host = FakeHost(slowness=lambda now: 1.0 if now < 9 * MS else 1.6)
        samples = time_host(host.work(2 * MS), n_samples=10, host=host)
        assert len(samples.ns) == 10
        assert samples.notes == (SHARED_NOTE,)
        assert host.pace.n_in_company > 0

    def test_calls_on_several_threads_are_not_judged(self):
        host = FakeHost(slowness=phases(3, 3))
        timer = host_timer(host.work(2 * MS), host=host, threads=8)
        for _ in range(10):
            timer.sample()
        assert (timer.pace_ns, host.pace.n_samples) == (0, 0)

    def test_a_long_call_is_judged_and_taken_once(self):
        host = FakeHost(slowness=lambda now: 1.0 if now < 30 * MS else 1.6)
        timer = HostTimer(host, host.work(25 * MS))
        timer.sample()
        before = host.pace.n_samples
        timer.sample()
        assert host.pace.n_samples == before + 1
        assert not host.pace.is_alone(timer.pace_ns)


def inputs(n, dtype, rng, exact):
    return (rng.integers(-8, 8, n).astype(dtype) if exact else rng.random(n).astype(dtype),)


def run(host, variants, **options):
    """Run a study on a fake host with a fake GPU."""
    gpu = FakeGpu(host)
    spaces = {"host": HOST, "device": Space("device", np)}
    machine = Machine(gpu, EXAMPLE_DEVICE, spaces, ClockReading, host)
    study = Study(
        "add", "Add one", variants(host, gpu), sizes=(1000,), inputs=inputs, reference=lambda x: x + 1
    )
    with recording_session(clock=host, given_machine=machine, ceilings=Ceilings(), **options) as session:
        return study.run(), session


def add_one(device, work, **options):
    def call(x, out):
        """Add one."""
        work()
        np.add(x, 1, out=out)

    return Variant(device, call, device=device, clock="host" if device == "cpu" else "device", **options)


def both(host, gpu):
    return add_one("gpu", gpu.kernel(100_000)), add_one("cpu", host.work(2 * MS))


class TestStudies:
    """Cells leave out samples in company, and the session knows the share."""

    def test_cells_hold_what_was_taken_alone(self):
        made, session = run(FakeHost(slowness=random_phases(3)), both)
        for variant, clock, true_s in (("cpu", "host", 2e-3), ("gpu", "launch", 3e-6)):
            cell = made.measurement(variant, 1000, clock)
            assert true_s <= cell.median_s <= 1.1 * true_s
            assert cell.n >= MIN_ALONE
            assert SHARED_NOTE not in cell.notes
        assert 0 < session.host_pace.shared < 1
        assert session.host_pace.best_s == pytest.approx(20e-6, rel=0.1)

    def test_a_host_that_is_never_quiet_again_gets_a_note(self):
        host = FakeHost(slowness=lambda now: 1.0 if now == 0 else 1.6)
        host.pace.best_ns = 20_000  # learnt in a quiet moment before
        made, _ = run(host, lambda host, gpu: (add_one("cpu", host.work(2 * MS)),))
        cell = made.measurement("cpu", 1000)
        assert cell.notes == (SHARED_NOTE,)
        assert cell.median_s == pytest.approx(3.2e-3)

    def test_samples_and_rounds_stay_together(self):
        made, _ = run(FakeHost(slowness=random_phases(4)), both)
        cell = made.measurement("cpu", 1000)
        assert len(cell.samples_ns) == len(cell.rounds)
        assert list(cell.rounds) == sorted(cell.rounds)


class TestSession:
    """What a run says of its host."""

    def test_it_counts_from_its_own_beginning(self):
        host = FakeHost(slowness=lambda now: 1.0 if now < 20 * MS else 1.6)
        time_host(host.work(2 * MS), n_samples=10, host=host)
        assert host.pace.n_in_company > 0
        session = Session(clock=host)
        assert (session.host_pace.best_s, session.host_pace.shared) == (None, None)
        host.slowness = lambda now: 1.0
        time_host(host.work(2 * MS), n_samples=5, host=host)
        assert session.host_pace.best_s == pytest.approx(20e-6)
        assert session.host_pace.shared == 0.0


class TestTurns:
    """Clocks in turns are read again, too, and a turn stays whole."""

    def turns(self, host, action):
        machine = Machine(FakeGpu(host), EXAMPLE_DEVICE, {}, lambda: None, host)
        with recording_session(given_machine=machine, ceilings=Ceilings()):
            return action(machine.gpu)

    def test_readings_of_a_slow_phase_are_left_out_for_all_clocks(self):
        host = FakeHost(slowness=random_phases(6))

        def reading(ns):
            def read():
                start = host.now
                host.advance(ns)
                return (host.now - start) / 1e9

            return read

        taken = self.turns(host, lambda gpu: in_turns({"a": reading(MS), "b": reading(3 * MS)}, 30))
        assert MIN_ALONE <= len(taken["a"]) == len(taken["b"]) <= 30
        assert 1e-3 <= statistics.median(taken["a"]) <= 1.1e-3
        assert 3e-3 <= statistics.median(taken["b"]) <= 3.3e-3

    def test_the_parts_of_a_whole_are_left_out_with_it(self):
        host = FakeHost(slowness=random_phases(8))

        def turn():
            start = host.now
            host.advance(MS)
            middle = host.now
            host.advance(2 * MS)
            return {"whole": host.now - start, "first": middle - start, "second": host.now - middle}

        taken = self.turns(host, lambda gpu: whole_turns(turn, 20))
        assert MIN_ALONE <= len(taken["whole"]) < 20
        sums = [first + second for first, second in zip(taken["first"], taken["second"], strict=True)]
        assert sums == taken["whole"]
        assert statistics.median(taken["whole"]) <= 1.1 * 3 * MS
