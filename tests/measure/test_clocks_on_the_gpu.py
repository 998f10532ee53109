"""The CuPy clock: its kernels compile, it drives CuPy as it should, and on a GPU it tells the time."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import ArgumentError
from gpuguide.machine import backends
from gpuguide.measure import clocks
from gpuguide.measure.clocks import (
    DELAY_SOURCE,
    EMPTY_SOURCE,
    FLUSH_SOURCE,
    MAX_DELAY_NS,
    CaptureError,
    CupyClock,
)
from gpuguide.measure.timing import time_device

# A launch that names no stream follows the clock's, whatever array it is given.
LAUNCHES = (
    lambda kernel, x: kernel[256, 256](x),
    lambda kernel, x: kernel[256, 256](x),
    lambda kernel, x: kernel[256, 256, backends.current_stream()](x),
)


class FakeStream:
    """A stream that writes down what is done to it; `invalid` makes the end of a capture fail."""

    def __init__(self, log, invalid=False):
        self.log, self.invalid = log, invalid

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, *error):
        self.log.append("exit")

    def begin_capture(self):
        self.log.append("begin_capture")

    def end_capture(self):
        self.log.append("end_capture")
        if self.invalid:
            raise RuntimeError("cudaErrorStreamCaptureInvalidated")
        return "graph"

    def record(self):
        return SimpleNamespace(done=False, synchronize=lambda: self.log.append("event.synchronize"))

    def synchronize(self):
        self.log.append("synchronize")


@pytest.fixture
def cupy(monkeypatch):
    """CuPy as far as the clock uses it, in a process that does not know Numba CUDA."""
    monkeypatch.setattr(clocks, "sys", SimpleNamespace(modules={}))
    log = []
    stream = FakeStream(log)
    cuda = SimpleNamespace(
        Stream=lambda non_blocking: log.append(f"non_blocking={non_blocking}") or stream,
        get_elapsed_time=lambda start, stop: 1.2345678,
        Device=lambda: SimpleNamespace(attributes={"L2CacheSize": 4096, "MultiProcessorCount": 2}),
    )
    module = SimpleNamespace(
        cuda=cuda, zeros=lambda n, dtype: SimpleNamespace(size=n, nbytes=n * 4), log=log, stream=stream
    )
    launches = []
    kernel = lambda name: lambda grid, block, args: launches.append((name, grid, block, args))  # noqa: E731
    monkeypatch.setattr(backends, "cupy", lambda: module)
    monkeypatch.setattr(backends, "raw_kernel", lambda source, name: kernel(name))
    module.launches = launches
    return module


def test_the_stream_is_non_blocking(cupy):
    CupyClock()
    assert cupy.log == ["non_blocking=True"]


def test_the_flush_reads_twice_the_cache(cupy):
    clock = CupyClock()
    clock.flush()
    clock.flush()
    (name, grid, block, (buffer, n_vectors, _)), again = cupy.launches
    assert (name, grid, block) == ("flush", (8,), (512,))
    assert buffer.nbytes == 2 * 4096 == n_vectors * 16
    assert again[3][0] is buffer


def test_the_delay_is_bounded(cupy):
    clock = CupyClock()
    clock.delay(MAX_DELAY_NS)
    assert cupy.launches == [("delay", (1,), (1,), (MAX_DELAY_NS,))]
    with pytest.raises(ArgumentError, match="expected a delay of 0 to 5000000 ns, got 5000001"):
        clock.delay(MAX_DELAY_NS + 1)


def test_a_capture_makes_the_calls_on_the_stream(cupy):
    clock = CupyClock()
    cupy.log.clear()
    assert clock.capture(lambda: cupy.log.append("call"), 2) == "graph"
    assert cupy.log == ["enter", "begin_capture", "call", "call", "end_capture", "exit"]


def test_a_failed_capture_is_ended_and_says_what_failed_first(cupy):
    cupy.stream.invalid = True
    clock = CupyClock()
    cupy.log.clear()
    with pytest.raises(CaptureError, match="ZeroDivisionError: division by zero"):
        clock.capture(lambda: 1 / 0, 2)
    assert cupy.log == ["enter", "begin_capture", "end_capture", "exit"]


def test_a_capture_that_breaks_at_its_end_is_named(cupy):
    cupy.stream.invalid = True
    with pytest.raises(CaptureError, match="cudaErrorStreamCaptureInvalidated"):
        CupyClock().capture(lambda: None, 1)


def test_numba_frees_nothing_during_a_capture(cupy, monkeypatch):
    @contextmanager
    def defer_cleanup():
        cupy.log.append("defer")
        yield
        cupy.log.append("cleanup")

    numba_cuda = SimpleNamespace(defer_cleanup=defer_cleanup)
    monkeypatch.setattr(clocks, "sys", SimpleNamespace(modules={"numba.cuda": numba_cuda}))
    monkeypatch.setattr(backends, "cuda", numba_cuda, raising=False)
    clock = CupyClock()
    cupy.log.clear()
    clock.capture(lambda: None, 1)
    assert cupy.log == ["defer", "enter", "begin_capture", "end_capture", "exit", "cleanup"]


@needs_compilers()
@pytest.mark.parametrize(
    ("source", "name"), [(DELAY_SOURCE, "delay"), (EMPTY_SOURCE, "empty"), (FLUSH_SOURCE, "flush")]
)
def test_the_kernels_compile_without_spills(source, name):
    assert raw_facts(source, name).spills == 0


@needs_compilers()
def test_the_delay_reads_both_timers_in_its_loop():
    ptx = raw_facts(DELAY_SOURCE, "delay").ptx
    assert ptx.count("%globaltimer") == 2
    assert ptx.count("%clock64") == 2


@needs_compilers()
def test_the_flush_reads_vectors_and_stores_only_on_a_condition():
    facts = raw_facts(FLUSH_SOURCE, "flush")
    assert facts.count("ld.global.v4") + facts.count("ld.global.nc.v4") >= 1
    assert facts.count("st.global") == 1


@pytest.mark.gpu
class TestOnAGpu:
    """What only a GPU can show. Bounds are wide: these are no measurements."""

    def test_a_delay_takes_as_long_as_it_says(self):
        clock = CupyClock()
        samples = time_device(lambda: clock.delay(1_000_000), clock, n_samples=5)
        assert all(990_000 <= ns <= 1_100_000 for ns in samples.ns)
        assert not samples.host_bound

    def test_an_empty_kernel_is_captured_and_takes_about_a_microsecond(self):
        clock = CupyClock()
        samples = time_device(clock.empty, clock, n_samples=5)
        assert samples.method == "graph"
        assert 100 < samples.ns[0] / samples.n_calls < 10_000

    def test_a_call_on_another_stream_is_refused(self):
        clock, other = CupyClock(), CupyClock()

        def call():
            with other.use():
                other.empty()

        with pytest.raises(ArgumentError, match="expected work on the clock's stream"):
            time_device(call, clock)

    @pytest.mark.parametrize("launch", LAUNCHES, ids=["plain", "bare array", "named stream"])
    def test_numba_kernels_are_captured(self, launch):
        cp = backends.cupy()
        clock = CupyClock()
        with clock.use():
            x = cp.zeros(1 << 16, dtype=cp.float32)
        clock.synchronize()
        view = x if launch is LAUNCHES[1] else backends.numba_view(x)

        @backends.cuda.jit
        def add_one_kernel(x):
            i = backends.cuda.grid(1)
            if i < x.size:
                x[i] += 1

        samples = time_device(lambda: launch(add_one_kernel, view), clock, n_samples=5)
        assert samples.method == "graph"
        assert float(x[0]) == float(x[-1]) >= samples.n_calls
