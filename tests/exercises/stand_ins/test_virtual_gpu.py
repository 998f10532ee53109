"""The virtual GPU: what costs host time, what costs device time, and what waits."""

import pytest

from gpuguide.exercises.stand_ins import virtual_gpu
from gpuguide.exercises.stand_ins.cuda_names import cuda_names
from gpuguide.exercises.stand_ins.time_limit import TooLongError
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, VirtualGpu

COSTS = Costs(
    launch_ns=10,
    compile_ns=1000,
    wake_up_ns=5,
    clock_ns=1,
    memory_rate=2.0,
    cache_rate=4.0,
    l2_bytes=100,
    link_rate=0.5,
    staging_rate=1.0,
    first_touch_rate=1.0,
    queue_length=3,
)


@pytest.fixture
def gpu():
    return VirtualGpu(COSTS)


def since(gpu, start):
    return gpu.now_ns - start


def test_a_launch_costs_host_time_and_returns_before_the_work_is_done(gpu):
    gpu.launch("k")
    start = gpu.now_ns
    event = gpu.launch("k", busy_ns=500)
    assert since(gpu, start) == 10
    assert (event.started_ns - start, event.done_ns - start) == (10, 510)
    assert gpu.free_at_ns == event.done_ns


def test_the_first_launch_of_a_kernel_compiles_it(gpu):
    start = gpu.now_ns
    first, second, other = gpu.launch("a"), gpu.launch("a"), gpu.launch("b")
    assert [event.compiled for event in (first, second, other)] == [True, False, True]
    assert since(gpu, start) == 3 * 10 + 2 * 1000


def test_a_memset_needs_no_compiling(gpu):
    assert not gpu.launch("memset", kind="memset").compiled


def test_work_is_done_in_order(gpu):
    first, second = gpu.launch("a", busy_ns=2000), gpu.launch("a", busy_ns=300)
    assert second.started_ns == first.done_ns
    assert second.done_ns - second.started_ns == 300


def test_an_idle_device_starts_when_the_launch_is_made(gpu):
    gpu.launch("a", busy_ns=5)
    gpu.synchronize()
    assert gpu.launch("a", busy_ns=5).started_ns == gpu.now_ns


def test_synchronise_waits_and_wakes_up(gpu):
    done = gpu.launch("a", busy_ns=700).done_ns
    gpu.synchronize()
    assert gpu.now_ns == done + 5


def test_synchronise_on_an_idle_device_costs_the_wake_up_only(gpu):
    start = gpu.now_ns
    gpu.synchronize()
    assert since(gpu, start) == 5


def test_the_clock_counts_seconds_and_costs_a_little(gpu):
    first = gpu.clock()
    gpu.host("think", 1e9)
    assert gpu.clock() - first == pytest.approx(1 + 1e-9)
    assert first > 1, "a clock does not start at zero"


def test_a_copy_to_the_device_blocks_for_the_staging_only(gpu):
    start = gpu.now_ns
    event = gpu.copy_to_device("x", 1, 40)
    assert since(gpu, start) == 10 + 40
    assert event.done_ns == gpu.now_ns + 80


def test_a_copy_to_the_host_waits_for_the_work_before_it(gpu):
    work = gpu.launch("a", busy_ns=900)
    event = gpu.copy_to_host("x", 40)
    assert event.started_ns == work.done_ns
    assert gpu.now_ns == work.done_ns + 80 + 5


def test_a_full_queue_makes_the_host_wait(gpu):
    gpu.launch("a")
    gpu.synchronize()
    done = [gpu.launch("a", busy_ns=1000).done_ns for _ in range(3)]
    assert gpu.now_ns < done[0]
    gpu.launch("a", busy_ns=1000)
    assert gpu.now_ns == done[0]


def busy(event):
    return event.done_ns - event.started_ns


def test_a_buffer_is_cold_once_and_warm_afterwards(gpu):
    assert [busy(gpu.launch("a", {"x": 40})) for _ in range(3)] == [20, 10, 10]


def test_flush_makes_buffers_cold(gpu):
    gpu.launch("a", {"x": 40})
    gpu.flush()
    assert busy(gpu.launch("a", {"x": 40})) == 20


def test_the_oldest_buffer_leaves_the_cache_first(gpu):
    for name in "xyx":
        gpu.launch("a", {name: 40})
    gpu.launch("a", {"z": 40})
    assert [busy(gpu.launch("a", {name: 40})) for name in "xzy"] == [10, 10, 20]


def test_a_buffer_larger_than_the_cache_stays_cold(gpu):
    assert [busy(gpu.launch("a", {"x": 120})) for _ in range(2)] == [60, 60]


def test_an_event_is_reached_when_the_work_before_it_is_done(gpu):
    cuda = cuda_names(gpu)
    start, stop = cuda.Event(), cuda.Event()
    start.record()
    gpu.launch("a", busy_ns=3_000_000)
    stop.record()
    with pytest.raises(RuntimeError, match="not ready"):
        cuda.get_elapsed_time(start, stop)
    stop.synchronize()
    assert cuda.get_elapsed_time(start, stop) == pytest.approx(3, rel=1e-3)


def test_every_way_to_wait_waits():
    ways = [
        lambda cuda: cuda.Device(0).synchronize(),
        lambda cuda: cuda.Stream.null.synchronize(),
        lambda cuda: cuda.get_current_stream().synchronize(),
        lambda cuda: cuda.stream.get_current_stream().synchronize(),
        lambda cuda: cuda.stream.Stream.null.synchronize(),
        lambda cuda: cuda.runtime.deviceSynchronize(),
        lambda cuda: cuda.runtime.streamSynchronize(0),
        lambda cuda: cuda.get_current_stream().record().synchronize(),
        lambda cuda: cuda.Stream().record().synchronize(),
    ]
    for wait in ways:
        gpu = VirtualGpu(COSTS)
        done = gpu.launch("a", busy_ns=900).done_ns
        wait(cuda_names(gpu))
        assert gpu.now_ns >= done


@pytest.mark.parametrize(
    ("into", "awaited", "waits"),
    [
        ("default", "blocking", False),
        ("default", "apart", False),
        ("blocking", "default", True),
        ("blocking", "blocking", True),
        ("blocking", "other blocking", False),
        ("blocking", "apart", False),
        ("apart", "default", False),
        ("apart", "apart", True),
    ],
)
@pytest.mark.parametrize("by", ["stream", "asking"])
def test_a_wait_for_a_stream_is_for_what_is_in_it(into, awaited, waits, by):
    """As on an H200: the default stream includes those that block it, and no other includes it."""
    gpu = VirtualGpu(COSTS)
    cuda = cuda_names(gpu)
    streams = {
        "default": cuda.Stream.null,
        "blocking": cuda.Stream(),
        "other blocking": cuda.Stream(),
        "apart": cuda.Stream(non_blocking=True),
    }
    with streams[into]:
        work = gpu.launch("a", busy_ns=100_000)
    if by == "asking":
        assert streams[awaited].done == (not waits)
    else:
        streams[awaited].synchronize()
        assert (gpu.now_ns >= work.done_ns) == waits


@pytest.mark.parametrize("non_blocking", [False, True])
def test_an_event_in_a_stream_comes_after_the_default_one_unless_it_is_non_blocking(non_blocking):
    gpu = VirtualGpu(COSTS)
    work = gpu.launch("a", busy_ns=100_000)
    cuda_names(gpu).Stream(non_blocking=non_blocking).record().synchronize()
    assert (gpu.now_ns >= work.done_ns) == (not non_blocking)


def test_a_stream_that_waits_for_an_event_is_done_after_it(gpu):
    cuda = cuda_names(gpu)
    work, apart = gpu.launch("a", busy_ns=100_000), cuda.Stream(non_blocking=True)
    apart.wait_event(cuda.Stream.null.record())
    apart.synchronize()
    assert gpu.now_ns >= work.done_ns


def test_a_stream_gives_back_the_one_around_it(gpu):
    cuda = cuda_names(gpu)
    stream = cuda.Stream()
    with stream, stream:
        assert cuda.get_current_stream() is stream
    assert cuda.get_current_stream() is cuda.Stream.null


def test_a_name_that_the_stand_in_lacks_is_named_with_its_module(gpu):
    with pytest.raises(AttributeError, match=r"The stand-in for cupy\.cuda\.runtime has no 'memGetInfo'"):
        cuda_names(gpu).runtime.memGetInfo()


def test_two_machines_that_do_the_same_agree_to_the_nanosecond():
    logs = []
    for _ in range(2):
        gpu = VirtualGpu(COSTS)
        gpu.copy_to_device("x", 1, 33)
        gpu.launch("a", {1: 33})
        gpu.clock()
        logs.append(gpu.log)
    assert logs[0] == logs[1]


def test_a_loop_that_never_ends_is_ended(gpu, monkeypatch):
    monkeypatch.setattr(virtual_gpu, "_MOST_EVENTS", 50)
    with pytest.raises(TooLongError, match="not ended after 50 requests"):
        [gpu.clock() for _ in range(51)]


def test_the_log_names_the_reader_s_line():
    source = "def answer(gpu):\n    gpu.clock()\n    inner(gpu)\n\ndef inner(gpu):\n    gpu.synchronize()\n"
    namespace = {}
    exec(compile(source, "<answer>", "exec"), namespace)
    gpu = VirtualGpu(COSTS, "<answer>")
    namespace["answer"](gpu)
    gpu.synchronize()
    assert [event.line for event in gpu.log] == [2, 6, None]


def test_asking_an_event_until_it_is_done_ends(gpu):
    event = cuda_names(gpu).Event()
    gpu.launch("a", busy_ns=20_000)
    event.record()
    while not event.done:
        pass
    assert gpu.now_ns >= gpu.log[0].done_ns
