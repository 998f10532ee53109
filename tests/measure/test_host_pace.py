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
from gpuguide.measure.turns import whole_turns
from gpuguide.results.ceilings import Ceilings

MS = 1_000_000


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


def test_fewer_than_five_alone_are_not_enough_to_leave_others_out():
    pace = HostPace(lambda: 0)
    pace.best_ns = 1_000
    assert pace.kept([1_000] * 4 + [1_200] + [1_201] * 3) == (list(range(5)), False)
    assert pace.kept([1_000] * (MIN_ALONE - 1) + [1_700]) == (list(range(MIN_ALONE)), True)
    assert pace.kept([1_000] * 2) == ([0, 1], False)


def test_what_is_taken_again_is_never_chosen_by_its_own_value():
    pace = HostPace(lambda: 0)
    pace.best_ns = 1_000
    left = [(9, 1_700), (1, 1_500), (5, 1_100), (7, 1_000)]
    assert taken_alone(lambda: left.pop(0), pace) == (5, 1_100)
    left = [(i, 1_700) for i in range(9)]
    assert taken_alone(lambda: left.pop(0), pace) == (TRIES - 1, 1_700)
    assert (pace.n_samples, pace.n_in_company) == (3 + TRIES, 2 + TRIES)


def test_the_median_of_launches_comes_out_although_the_host_slows_by_phases():
    """The true launch takes 3 us; the median of all samples would be up to twice that."""
    for seed in range(5):
        host = FakeHost(slowness=random_phases(seed))
        gpu = FakeGpu(host)
        samples = collect(launch_timer(gpu.kernel(500), gpu, host=host), 60)
        assert 3_000 <= statistics.median(samples.ns) / samples.n_calls <= 3_000 * 1.1
        assert SHARED_NOTE not in samples.notes


def test_without_the_loop_the_same_host_would_bend_the_median():
    """The test above shows something only if this host slows what nobody watches: calls on many threads."""
    for threads, bent in ((8, True), (1, False)):
        host = FakeHost(slowness=random_phases(0, quiet_ms=7, shared_ms=14))
        samples = collect(host_timer(host.work(3_000), host=host, threads=threads), 60)
        assert (statistics.median(samples.seconds) > 3_000e-9 * 1.1) is bent


def test_a_slow_sample_in_a_quiet_phase_is_kept_and_not_taken_again():
    host = FakeHost(slowness=lambda now: 1.0)
    work = host.work(*([2 * MS] * 4 + [9 * MS] * 3 + [2 * MS]))
    samples = collect(host_timer(work, host=host), 10)
    assert samples.ns == (2 * MS,) * 2 + (9 * MS,) * 3 + (2 * MS,) * 5
    assert host.pace.n_in_company == 0


def test_all_are_kept_and_the_reader_is_told_when_too_few_were_alone():
    host = FakeHost(slowness=lambda now: 1.0 if now < 9 * MS else 1.6)
    samples = collect(host_timer(host.work(2 * MS), host=host), 10)
    assert (len(samples.ns), samples.notes) == (10, (SHARED_NOTE,))


def test_a_long_call_is_judged_and_taken_once():
    host = FakeHost(slowness=lambda now: 1.0 if now < 30 * MS else 1.6)
    timer = HostTimer(host, host.work(25 * MS))
    timer.sample()
    before = host.pace.n_samples
    timer.sample()
    assert host.pace.n_samples == before + 1
    assert not host.pace.is_alone(timer.pace_ns)


def run(host):
    """Run a study on a fake host with a fake GPU."""
    gpu = FakeGpu(host)

    def add_one(work):
        return lambda x, out: (work(), np.add(x, 1, out=out))

    variants = (
        Variant("gpu", add_one(gpu.kernel(100_000))),
        Variant("cpu", add_one(host.work(2 * MS)), device="cpu", clock="host"),
    )
    inputs = lambda n, dtype, rng, exact: (rng.integers(-8, 8, n).astype(dtype),)  # noqa: E731
    study = Study("add", "Add one", variants, (1000,), inputs=inputs, reference=lambda x: x + 1)
    spaces = {"host": HOST, "device": Space("device", np)}
    machine = Machine(gpu, EXAMPLE_DEVICE, spaces, ClockReading, host)
    with recording_session(clock=host, given_machine=machine, ceilings=Ceilings()) as session:
        return study.run(), session


def test_cells_of_a_study_hold_what_was_taken_alone():
    made, session = run(FakeHost(slowness=random_phases(3)))
    for variant, clock, true_s in (("cpu", "host", 2e-3), ("gpu", "launch", 3e-6)):
        cell = made.measurement(variant, 1000, clock)
        assert true_s <= cell.median_s <= 1.1 * true_s
        assert MIN_ALONE <= len(cell.samples_ns) == len(cell.rounds)
        assert SHARED_NOTE not in cell.notes
    assert 0 < session.host_pace.shared < 1
    assert session.host_pace.best_s == pytest.approx(20e-6, rel=0.1)


def test_a_cell_on_a_host_that_is_never_quiet_has_a_note():
    host = FakeHost(slowness=lambda now: 1.0 if now == 0 else 1.6)
    host.pace.best_ns = 20_000  # learnt in a quiet moment before
    cell = run(host)[0].measurement("cpu", 1000)
    assert (cell.notes, cell.median_s) == ((SHARED_NOTE,), pytest.approx(3.2e-3))


def test_a_session_counts_from_its_own_beginning():
    host = FakeHost(slowness=lambda now: 1.0 if now < 20 * MS else 1.6)
    collect(host_timer(host.work(2 * MS), host=host), 10)
    assert host.pace.n_in_company > 0
    session = Session(clock=host)
    assert (session.host_pace.best_s, session.host_pace.shared) == (None, None)
    host.slowness = lambda now: 1.0
    collect(host_timer(host.work(2 * MS), host=host), 5)
    assert session.host_pace.shared == 0.0


def test_clocks_in_turns_leave_out_whole_turns():
    host = FakeHost(slowness=random_phases(8))

    def turn():
        start = host.now
        host.advance(MS)
        middle = host.now
        host.advance(2 * MS)
        return {"whole": host.now - start, "first": middle - start, "second": host.now - middle}

    machine = Machine(FakeGpu(host), EXAMPLE_DEVICE, {}, lambda: None, host)
    with recording_session(given_machine=machine, ceilings=Ceilings()):
        taken = whole_turns(turn, 20)
    assert MIN_ALONE <= len(taken["whole"]) < 20
    sums = [first + second for first, second in zip(taken["first"], taken["second"], strict=True)]
    assert sums == taken["whole"]
    assert statistics.median(taken["whole"]) <= 1.1 * 3 * MS
