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
    time_host,
)

MS = 1_000_000


@pytest.fixture
def gpu():
    return FakeGpu()


def test_a_long_kernel_is_timed_by_events_behind_a_delay(gpu):
    samples = time_device(gpu.kernel(5 * MS), gpu, n_samples=4, host=gpu.host)
    # One call: its own time, its start-up, and the gap to the event before it.
    assert samples == Samples((5 * MS + 2_000,) * 4, n_calls=1, method="events", floor_ns=2_000)


def test_the_order_within_a_sample(gpu):
    timer = device_timer(gpu.kernel(5 * MS), gpu, cold=True, reset=gpu.kernel(100, name="reset"))
    gpu.log.clear()
    timer.sample()
    assert gpu.log == ["reset", "flush", "delay", "record", "call", "record", "pending"]


def test_a_warm_sample_is_not_flushed(gpu):
    timer = device_timer(gpu.kernel(5 * MS), gpu)
    gpu.log.clear()
    timer.sample()
    assert gpu.log == ["delay", "record", "call", "record", "pending"]


def test_the_launch_is_not_in_the_time_of_a_slow_launcher(gpu):
    """80 us of host time before an 60 us kernel: without a delay the span would be the host's."""
    samples = time_device(gpu.kernel(60_000, launch_ns=80_000), gpu, n_samples=3, host=gpu.host)
    assert samples.ns == (62_000,) * 3
    assert not samples.host_bound


def test_the_delay_is_doubled_until_it_hides_the_host(gpu):
    timer = device_timer(gpu.kernel(MS, launch_ns=1_500_000), gpu)
    assert timer.delay_ns == 1_600_000
    assert sorted(set(gpu.delays)) == [200_000, 400_000, 800_000, 1_600_000]
    assert timer.sample() == MS + 2_000
    assert not timer.host_bound


def test_a_host_that_no_delay_hides_makes_spans(gpu):
    samples = time_device(gpu.kernel(MS, launch_ns=20 * MS), gpu, n_samples=3, host=gpu.host)
    assert samples.host_bound
    assert max(gpu.delays) == MAX_DELAY_NS
    # The span holds the whole launch: no part of it is hidden behind a delay.
    assert samples.ns == (20 * MS + MS + 2_000,) * 3


def test_a_call_that_waits_for_the_gpu_is_host_bound(gpu):
    samples = time_device(gpu.kernel(10_000, synchronizes=True), gpu, n_samples=3, host=gpu.host)
    assert samples.host_bound
    assert samples.method == "events"


def test_device_times_and_spans_are_not_mixed(gpu):
    """The host falls behind after the third sample: what came before is dropped."""
    slow = iter([False] * 8)
    quick, late = gpu.kernel(5 * MS), gpu.kernel(5 * MS, launch_ns=20 * MS)
    samples = time_device(
        lambda: quick() if next(slow, None) is not None else late(), gpu, n_samples=5, host=gpu.host
    )
    assert samples.host_bound
    assert len(samples.ns) == 5
    assert min(samples.ns) > 20 * MS


def test_short_kernels_are_replayed_from_a_graph_of_a_millisecond(gpu):
    samples = time_device(gpu.kernel(4_000), gpu, n_samples=3, host=gpu.host)
    assert samples.method == "graph"
    assert samples.n_calls == 200
    assert samples.ns == (200 * 5_000,) * 3
    assert samples.floor_ns == 1_000
    assert gpu.log[-5:] == ["delay", "record", "replay", "record", "pending"]


def test_the_graph_is_captured_again_when_it_is_shorter_than_a_millisecond(gpu):
    """Alone a call takes 6 us, in the graph 5 us: 167 of them would last 0.83 ms."""
    device_timer(gpu.kernel(4_000), gpu)
    assert gpu.log.count("capture 167") == 1
    assert gpu.log.count("capture 200") == 1


def test_a_graph_is_replayed_once_before_it_is_timed(gpu):
    device_timer(gpu.kernel(4_000), gpu)
    first = gpu.log.index("capture 167") + 1 + 167
    assert gpu.log[first : first + 3] == ["replay", "synchronize", "delay"]


def test_where_capture_fails_many_run_under_one_delay():
    gpu = FakeGpu(capturable=False)
    samples = time_device(gpu.kernel(4_000), gpu, n_samples=3, host=gpu.host)
    assert samples.method == "batch"
    assert samples.n_calls == 167
    assert samples.ns == (167 * 6_000,) * 3
    assert samples.notes == ("not captured: the fake GPU captures nothing",)
    assert samples.floor_ns == 2_000


def test_calls_that_allocate_are_never_captured(gpu):
    samples = time_device(gpu.kernel(4_000), gpu, n_samples=1, capturable=False, host=gpu.host)
    assert samples.method == "batch"
    assert not any(entry.startswith("capture") for entry in gpu.log)
    assert samples.notes == ("not captured: the call is declared not capturable",)


def test_a_batch_shrinks_until_the_host_stays_ahead():
    """167 launches of 50 us take 8.35 ms, more than the longest delay; 83 take most of it, 4.15 ms."""
    gpu = FakeGpu(capturable=False)
    timer = device_timer(gpu.kernel(4_000, launch_ns=50_000), gpu)
    assert (timer.method, timer.n_calls, timer.host_bound) == ("batch", 41, False)
    assert timer.sample() == 41 * 6_000


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


def test_a_batch_of_one_is_an_event_pair():
    """Two launches of 3 ms do not fit under a delay of 5 ms, one does."""
    gpu = FakeGpu(capturable=False)
    timer = device_timer(gpu.kernel(4_000, launch_ns=3 * MS), gpu)
    assert (timer.method, timer.n_calls, timer.host_bound) == ("events", 1, False)


@pytest.mark.parametrize("arguments", [{"batchable": False}, {"reset": lambda: None}, {"cold": True}])
def test_calls_that_must_stand_alone_are_not_batched(gpu, arguments):
    samples = time_device(gpu.kernel(4_000), gpu, n_samples=2, host=gpu.host, **arguments)
    assert (samples.method, samples.n_calls, samples.ns) == ("events", 1, (6_000, 6_000))


def test_a_cold_sample_pays_for_its_misses(gpu):
    call = gpu.kernel(5 * MS, cold_ns=1_000)
    warm = time_device(call, gpu, n_samples=2, host=gpu.host)
    cold = time_device(call, gpu, n_samples=2, cold=True, host=gpu.host)
    assert cold.ns[0] - warm.ns[0] == 1_000


def test_a_cold_batch_rotates_over_its_calls(gpu):
    calls = [gpu.kernel(4_000, name=name) for name in "abc"]
    timer = device_timer(calls, gpu, cold=True)
    assert timer.method == "graph"
    assert timer.n_calls % 3 == 0
    assert timer.n_calls * 5_000 >= MS
    last = len(gpu.log) - 1 - gpu.log[::-1].index(f"capture {timer.n_calls}")
    captured = gpu.log[last + 1 : last + 1 + timer.n_calls]
    assert captured == ["a", "b", "c"] * (timer.n_calls // 3)


def test_rotation_goes_on_from_sample_to_sample(gpu):
    timer = device_timer([gpu.kernel(5 * MS, name=name) for name in "ab"], gpu)
    gpu.log.clear()
    for _ in range(4):
        timer.sample()
    made = [entry for entry in gpu.log if entry in "ab"]
    assert made in (["a", "b"] * 2, ["b", "a"] * 2)


def test_each_reset_comes_before_exactly_one_call(gpu):
    time_device(gpu.kernel(4_000), gpu, n_samples=3, reset=gpu.kernel(100, name="reset"), host=gpu.host)
    made = [entry for entry in gpu.log if entry in ("reset", "call")]
    assert made == ["reset", "call"] * (len(made) // 2)


def test_work_on_another_stream_is_an_error_and_not_a_fast_kernel(gpu):
    with pytest.raises(
        ArgumentError, match="expected work on the clock's stream; 2000 captured calls took 0 ns"
    ):
        time_device(lambda: None, gpu, host=gpu.host)


def test_a_kernel_as_short_as_an_empty_one_is_no_error(gpu):
    assert time_device(gpu.kernel(0), gpu, n_samples=1, host=gpu.host).method == "graph"


def test_the_floor_is_measured_once_a_clock_and_method(gpu):
    device_timer(gpu.kernel(5 * MS), gpu)
    empties = gpu.log.count("empty")
    device_timer(gpu.kernel(6 * MS), gpu)
    assert gpu.log.count("empty") == empties
    assert gpu.floors == {"events": 2_000}


def test_garbage_collection_is_off_inside_a_sample_and_back_after_it(gpu):
    timer = device_timer(gpu.kernel(4_000), gpu)
    gpu.collector.clear()
    timer.sample()
    device_timer(gpu.kernel(5 * MS), gpu, capturable=False).sample()
    assert gc.isenabled()
    assert gpu.collector[-1] is False


def test_quiet_restores_what_it_found_even_after_an_error():
    gc.disable()
    try:
        with quiet():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    with pytest.raises(ZeroDivisionError), quiet():
        1 / 0  # noqa: B018
    assert gc.isenabled()


def test_an_error_in_the_call_comes_through(gpu):
    def call():
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        time_device(call, gpu)
    assert gpu.depth == 0


@pytest.mark.parametrize("call", [None, [], [1]])
def test_what_is_not_callable_is_named(gpu, call):
    with pytest.raises(ArgumentError, match="expected a callable or a sequence of them, got"):
        device_timer(call, gpu)


@pytest.mark.parametrize("n_samples", [0, 101])
def test_the_number_of_samples_is_bounded(gpu, n_samples):
    with pytest.raises(ArgumentError, match=f"expected 1 to 100 samples, got n_samples={n_samples}"):
        time_device(gpu.kernel(MS), gpu, n_samples=n_samples)


def test_sampling_stops_at_ten_when_all_are_equal(gpu):
    assert len(time_device(gpu.kernel(MS), gpu, host=gpu.host).ns) == 10


def test_sampling_stops_at_the_budget(gpu):
    samples = time_device(gpu.kernel(50 * MS), gpu, host=gpu.host, budget_s=0.3)
    assert len(samples.ns) == 4  # besides, one to warm up and one to estimate


def test_sampling_a_slow_call_stops_at_three(gpu):
    samples = time_device(gpu.kernel(250 * MS), gpu, host=gpu.host, budget_s=60)
    assert len(samples.ns) == 3


def test_the_launch_clock_counts_the_host_only(gpu):
    samples = collect(launch_timer(gpu.kernel(4_000, launch_ns=8_000), gpu, host=gpu.host), 3)
    assert samples == Samples((256 * 8_000,) * 3, n_calls=256, method="host")


def test_launches_lie_between_two_synchronisations(gpu):
    timer = launch_timer(gpu.kernel(4_000), gpu, host=gpu.host)
    gpu.log.clear()
    timer.sample()
    assert gpu.log == ["synchronize", *["call"] * 256, "synchronize"]


def test_few_launches_when_each_takes_the_gpu_long(gpu):
    """Five milliseconds of work may be queued of a budget of 0.2 s."""
    timer = launch_timer(gpu.kernel(2 * MS, launch_ns=8_000), gpu, host=gpu.host)
    assert timer.n_calls == 2
    assert timer.sample() == 2 * 8_000


def test_end_to_end_counts_launch_work_and_wait(gpu):
    samples = collect(end_to_end_timer(gpu.kernel(MS, launch_ns=8_000), gpu, host=gpu.host), 2)
    assert samples == Samples((MS + 8_000 + 2_000,) * 2, n_calls=1, method="host")


def test_end_to_end_starts_on_an_idle_gpu_and_resets_outside(gpu):
    timer = end_to_end_timer(gpu.kernel(MS), gpu, host=gpu.host, reset=gpu.kernel(7 * MS, name="reset"))
    gpu.log.clear()
    assert timer.sample() == MS + 3_000 + 2_000
    assert gpu.log == ["reset", "synchronize", "call", "synchronize"]


def test_short_cpu_calls_are_repeated_within_a_sample():
    host = FakeHost()
    samples = time_host(host.work(10_000), n_samples=3, host=host)
    assert samples == Samples((MS,) * 3, n_calls=100, method="host")


def test_the_first_cpu_call_does_not_set_the_number_of_repeats():
    """The first call compiles for 400 ms; the later ones take 10 us."""
    host = FakeHost()
    assert host_timer(host.work(400 * MS, 10_000), host=host).n_calls == 100


def test_a_slow_cpu_call_is_made_once_before():
    host = FakeHost()
    host_timer(host.work(1_500 * MS), host=host)
    assert host.now == 1_500 * MS


def test_a_cpu_call_with_a_reset_is_timed_alone():
    host = FakeHost()
    made = []
    timer = host_timer(host.work(10_000), host=host, reset=lambda: made.append(host.now))
    assert timer.n_calls == 1
    assert timer.sample() == 10_000
    assert len(made) == 2


def test_cpu_sampling_stops_at_a_second():
    host = FakeHost()
    samples = time_host(host.work(*(150 * MS + i * 10 * MS for i in range(40))), host=host)
    assert sum(samples.ns) < 1_500 * MS


def test_keep_busy_reads_until_the_time_is_over(gpu):
    keep_busy(gpu, seconds=0.2, host=gpu.host)
    assert 200 * MS <= gpu.host.now < 205 * MS
    assert set(gpu.log) == {"flush", "synchronize"}


def test_seconds_are_per_call():
    assert Samples((3_000, 6_000), n_calls=3).seconds == (1e-6, 2e-6)
