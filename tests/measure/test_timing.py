"""Timing against a simulated launch queue: methods, counts, order, and what a sample is worth."""

from __future__ import annotations

import gc

import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError
from gpuguide.measure.clocks import MAX_DELAY_NS, quiet
from gpuguide.measure.timing import (
    Samples,
    collect,
    device_timer,
    end_to_end_timer,
    host_timer,
    keep_busy,
    launch_timer,
    time_device,
)

MS = 1_000_000


@pytest.fixture
def gpu():
    return FakeGpu()


def test_a_long_kernel_is_timed_by_events_behind_a_delay(gpu):
    samples = time_device(gpu.kernel(5 * MS), gpu, n_samples=4, host=gpu.host)
    # One call: its own time, its start-up, and the gap to the event before it.
    assert samples == Samples((5 * MS + 2_000,) * 4, n_calls=1, method="events", floor_ns=2_000)


@pytest.mark.parametrize(
    ("options", "before", "ns"),
    [({"batchable": False}, [], 6_000), ({"cold": True}, ["flush"], 7_000), ({"reset": 1}, ["reset"], 6_000)],
)
def test_a_call_that_cannot_be_repeated_is_timed_alone_and_in_this_order(gpu, options, before, ns):
    call, reset = gpu.kernel(4_000, cold_ns=1_000), gpu.kernel(100, name="reset")
    timer = device_timer(call, gpu, **{**options, "reset": reset if "reset" in options else None})
    gpu.log.clear()
    assert timer.sample() == ns
    assert gpu.log == [*before, "delay", "record", "call", "record", "pending"]


def test_the_delay_is_doubled_until_it_hides_the_host(gpu):
    timer = device_timer(gpu.kernel(MS, launch_ns=1_500_000), gpu)
    assert sorted(set(gpu.delays)) == [200_000, 400_000, 800_000, 1_600_000]
    assert (timer.sample(), timer.host_bound) == (MS + 2_000, False)


def test_a_host_that_no_delay_hides_makes_spans(gpu):
    """The span holds the whole launch: no part of it is hidden behind a delay."""
    samples = time_device(gpu.kernel(MS, launch_ns=20 * MS), gpu, n_samples=3, host=gpu.host)
    assert (samples.ns, samples.host_bound) == ((20 * MS + MS + 2_000,) * 3, True)
    assert max(gpu.delays) == MAX_DELAY_NS
    waiting = time_device(gpu.kernel(10_000, synchronizes=True), gpu, n_samples=3, host=gpu.host)
    assert (waiting.host_bound, waiting.method) == (True, "events")


def test_device_times_and_spans_are_not_mixed(gpu):
    """The host falls behind after the third sample: what came before is dropped."""
    slow = iter([False] * 8)
    quick, late = gpu.kernel(5 * MS), gpu.kernel(5 * MS, launch_ns=20 * MS)
    samples = time_device(
        lambda: quick() if next(slow, None) is not None else late(), gpu, n_samples=5, host=gpu.host
    )
    assert (samples.host_bound, len(samples.ns)) == (True, 5)
    assert min(samples.ns) > 20 * MS


def test_short_kernels_are_replayed_from_a_graph_of_a_millisecond(gpu):
    """Alone a call takes 6 us, in the graph 5 us: the 167 captured first would last 0.83 ms."""
    samples = time_device(gpu.kernel(4_000), gpu, n_samples=3, host=gpu.host)
    assert samples == Samples((200 * 5_000,) * 3, n_calls=200, method="graph", floor_ns=1_000)
    assert gpu.log[-5:] == ["delay", "record", "replay", "record", "pending"]
    first = gpu.log.index("capture 167") + 1 + 167
    assert gpu.log[first : first + 3] == ["replay", "synchronize", "delay"], "a first replay is not timed"


@pytest.mark.parametrize(
    ("fake", "options", "note"),
    [({"capturable": False}, {}, "the fake GPU captures nothing"),
     ({}, {"capturable": False}, "the call is declared not capturable")],
)  # fmt: skip
def test_where_nothing_is_captured_many_run_under_one_delay(fake, options, note):
    gpu = FakeGpu(**fake)
    samples = time_device(gpu.kernel(4_000), gpu, n_samples=3, host=gpu.host, **options)
    assert (samples.ns, samples.n_calls, samples.method) == ((167 * 6_000,) * 3, 167, "batch")
    assert (samples.notes, samples.floor_ns) == ((f"not captured: {note}",), 2_000)


@pytest.mark.parametrize(
    ("launch_ns", "expected"), [(50_000, ("batch", 41, False)), (3 * MS, ("events", 1, False))]
)
def test_a_batch_shrinks_until_the_host_stays_ahead(launch_ns, expected):
    """167 launches of 50 us take 8.35 ms, more than the longest delay; 83 take most of it, 4.15 ms."""
    gpu = FakeGpu(capturable=False)
    timer = device_timer(gpu.kernel(4_000, launch_ns=launch_ns), gpu)
    assert (timer.method, timer.n_calls, timer.host_bound) == expected
    assert timer.sample() == timer.n_calls * 6_000


def test_a_batch_stays_hidden_when_the_host_is_slower_later():
    """50 launches of 95 us, as of CuPy's search, fit under the longest delay, until the host swings."""
    gpu = FakeGpu(capturable=False)
    slower = [1.0]
    quick, slow = (gpu.kernel(18_000, launch_ns=ns) for ns in (95_000, 140_000))
    timer = device_timer(lambda: (quick if slower[0] == 1 else slow)(), gpu)
    slower[0] = 1.5
    for _ in range(5):
        timer.sample()
    assert (timer.method, timer.host_bound) == ("batch", False)


def test_work_on_another_stream_is_an_error_and_not_a_fast_kernel(gpu):
    with pytest.raises(ArgumentError, match="work on the clock's stream; 2000 captured calls took 0 ns"):
        time_device(lambda: None, gpu, host=gpu.host)
    assert time_device(gpu.kernel(0), gpu, n_samples=1, host=gpu.host).method == "graph"


def test_garbage_collection_is_off_inside_a_sample_and_back_after_it(gpu):
    device_timer(gpu.kernel(5 * MS), gpu).sample()
    assert gpu.collector[-1] is False
    with pytest.raises(ZeroDivisionError), quiet():
        1 / 0  # noqa: B018
    assert gc.isenabled()


@pytest.mark.parametrize(("ms", "budget_s", "n"), [(1, 0.2, 10), (50, 0.3, 4), (250, 60, 3)])
def test_sampling_stops_after_ten_equal_ones_at_the_budget_or_after_three_slow_ones(gpu, ms, budget_s, n):
    samples = time_device(gpu.kernel(ms * MS), gpu, host=gpu.host, budget_s=budget_s)
    assert len(samples.ns) == n  # besides, one to warm up and one to estimate


def test_launches_lie_between_two_synchronisations_and_the_host_s_part_counts(gpu):
    timer = launch_timer(gpu.kernel(4_000, launch_ns=8_000), gpu, host=gpu.host)
    gpu.log.clear()
    assert collect(timer, 1) == Samples((256 * 8_000,), n_calls=256, method="host")
    assert gpu.log == ["synchronize", *["call"] * 256, "synchronize"]


def test_few_launches_when_each_takes_the_gpu_long(gpu):
    """A fortieth of the budget of 0.2 s may be queued."""
    timer = launch_timer(gpu.kernel(2 * MS, launch_ns=8_000), gpu, host=gpu.host)
    assert (timer.n_calls, timer.sample()) == (2, 2 * 8_000)


def test_end_to_end_starts_on_an_idle_gpu_and_counts_launch_work_and_wait(gpu):
    timer = end_to_end_timer(gpu.kernel(MS), gpu, host=gpu.host, reset=gpu.kernel(7 * MS, name="reset"))
    gpu.log.clear()
    assert timer.sample() == MS + 3_000 + 2_000
    assert gpu.log == ["reset", "synchronize", "call", "synchronize"]


@pytest.mark.parametrize(
    ("durations_ns", "n_calls", "n_before"),
    [((10_000,), 100, 2), ((400 * MS, 10_000), 100, 2), ((1_500 * MS,), 1, 1)],
    ids=["short calls are repeated", "a first call may compile", "a slow one is made once before"],
)
def test_calls_of_the_cpu_are_warmed_up_and_repeated(durations_ns, n_calls, n_before):
    host, made = FakeHost(), []
    work = host.work(*durations_ns)
    timer = host_timer(lambda: made.append(work()), host=host)
    assert (timer.n_calls, len(made)) == (n_calls, n_before)
    assert timer.sample() == n_calls * durations_ns[-1]


def test_keep_busy_reads_until_the_time_is_over(gpu):
    keep_busy(gpu, seconds=0.2, host=gpu.host)
    assert 200 * MS <= gpu.host.now < 205 * MS
    assert set(gpu.log) == {"flush", "synchronize"}
