"""The reader's own code: what `benchmark` shows of it, with a fake clock, without a GPU, and on one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import peers
import pytest

import gpuguide as gg
from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, LaunchError
from gpuguide.machine import default_stream
from gpuguide.machine.backends import cuda, simulated
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure import benchmark as module
from gpuguide.measure.benchmark import benchmark
from gpuguide.measure.session import Machine, recording_session
from gpuguide.results.benchmark import Benchmark, Timing
from gpuguide.results.ceilings import Ceilings

MS = 1_000_000


@pytest.fixture
def gpu(monkeypatch):
    """A fake GPU on which `benchmark` runs: its launches take 3 us, the rest of a kernel 2 us."""
    made = FakeGpu()
    monkeypatch.setattr(module, "_hold_up_default_stream", made.hold_up_default_stream)
    machine = Machine(made, EXAMPLE_DEVICE, host=made.host)
    with recording_session(given_machine=machine, clock=made.host, ceilings=Ceilings()):
        yield made


def test_three_clocks_are_shown_each_beside_its_floor(gpu):
    assert repr(benchmark(gpu.kernel(MS))) == (
        "call on NVIDIA H200\n"
        "            median   middle half  floor   samples\n"
        "launch      3.00 µs  3.00 µs      3.0 µs  10 of 8 calls\n"
        "device      1.00 ms  1.00 ms      2.0 µs  10 of 1 call\n"
        "end to end  1.01 ms  1.01 ms      5.0 µs  10 of 1 call\n"
        "Floor: an empty kernel by the same clock."
    )


def test_what_returns_an_array_is_not_captured(gpu):
    """A graph would write to memory that has gone back to the pool."""
    call = gpu.kernel(4_000)

    def allocating():
        call()
        return np.zeros(3)

    found = benchmark(allocating)
    assert "device      6.00 µs  6.00 µs      2.0 µs  10 of 167 calls behind one delay\n" in repr(found)
    assert "device      5.00 µs  5.00 µs      1.0 µs  10 of 200 calls in a graph\n" in repr(benchmark(call))


@pytest.mark.parametrize("ns", [10_000, 400 * MS])
def test_a_call_that_waits_for_the_gpu_has_one_time(gpu, ns):
    """Whatever its events span, and whatever the host takes, holds both the launch and the work."""
    found = benchmark(gpu.kernel(ns, synchronizes=True))
    assert (found.launch, found.device) == (None, None)
    assert found.end_to_end.median_s == pytest.approx((ns + 5_000) / 1e9)
    assert "The call waits for the GPU itself" in repr(found)


def test_work_in_the_default_stream_that_is_waited_for_has_one_time(gpu):
    """`cuda.reduce` was shown as 2.9 us, the time between two events around nothing on an H200."""
    gpu.event_ns, gpu.floors["events"] = 2_900, 2_720
    found = benchmark(gpu.in_default_stream(200_000, launch_ns=80_000, synchronizes=True))
    assert (found.launch, found.device, found.end_to_end.median_s) == (None, None, 280e-6)


def test_work_in_the_default_stream_is_in_the_time_end_to_end(gpu):
    """A ufunc of Numba on arrays in GPU memory does not wait for its work."""
    found = benchmark(gpu.in_default_stream(MS, launch_ns=300_000))
    assert (found.launch.median_s, found.device, found.end_to_end.median_s) == (300e-6, None, 1.3e-3)
    assert "The call runs on the CPU, or in a stream of its own" in repr(found)


def test_a_host_that_is_never_ahead_leaves_no_time_on_the_gpu(gpu):
    found = benchmark(gpu.kernel(MS, launch_ns=20 * MS))
    assert (found.launch.median_s, found.device) == (20e-3, None)
    assert "takes longer than the GPU can be held up" in repr(found)


def test_a_call_without_work_on_the_gpu_has_no_device_time(gpu):
    found = benchmark(lambda: gpu.host.advance(100_000))
    assert (found.launch.median_s, found.device) == (100e-6, None)


def test_a_slow_launch_is_timed_alone(gpu):
    """Two hundred of them in one sample would take the whole budget."""
    found = benchmark(gpu.kernel(10_000, launch_ns=300_000))
    assert (found.device.n_calls, found.device.median_s) == (1, 12e-6)
    assert gpu.host.now < 500 * MS


def test_compilation_is_in_none_of_the_times(gpu):
    call = gpu.kernel(MS)
    compiling = [700 * MS]

    def first_compiles():
        gpu.host.advance(compiling.pop() if compiling else 0)
        call()

    found = benchmark(first_compiles)
    assert max(*found.launch.samples_ns, *found.end_to_end.samples_ns) < 2 * MS


def test_what_others_put_into_their_streams_is_waited_for(gpu):
    """The arguments may still be made there."""
    benchmark(gpu.kernel(MS))
    assert gpu.log.index("synchronize all") < gpu.log.index("call")


def test_the_budget_is_kept(gpu):
    benchmark(gpu.kernel(50 * MS), budget_s=10)
    full = gpu.host.now
    benchmark(gpu.kernel(50 * MS), budget_s=0.3)
    assert gpu.host.now - full < full / 2


def test_without_a_gpu_the_host_is_timed_and_the_result_says_so():
    host = FakeHost()
    with recording_session(given_machine=Machine(host=host), clock=host, ceilings=Ceilings()):
        found = benchmark(host.work(20_000))
    assert repr(found) == (
        "call on the CPU\n"
        "      median   middle half  floor  samples\n"
        "host  20.0 µs  20.0 µs      0 s    10 of 50 calls\n"
        "Floor: an empty function by the same clock.\n"
        "There is no GPU that CuPy can use here, so the call was timed on the host. See gpuguide doctor."
    )


@pytest.mark.parametrize("where", ["the call", "a wait for it"])
def test_an_error_of_the_gpu_is_said_in_words(gpu, monkeypatch, where):
    def fails(*args):
        raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access")

    if where == "a wait for it":
        monkeypatch.setattr(gpu, "synchronize_all", fails)
    with pytest.raises(LaunchError, match="outside its arrays"):
        benchmark(fails if where == "the call" else gpu.kernel(MS))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3),), r"expected a callable first, as in .*; got ndarray. Pass f and x, not f\(x\)"),
        ((print, 0), "budget_s must be a number of seconds above 0; got nan"),
    ],
)
def test_what_cannot_be_timed_is_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        benchmark(*arguments, budget_s=float("nan"))


class RawKernel:
    """As CuPy's, of which `code` and `name` can be read."""

    code = 'extern "C" __global__ void scale(const float* x, float* out, const float a, double b, int n) {}'
    name = "scale"

    def __call__(self, grid, block, args):
        pass


def test_half_of_a_double_is_not_read_as_a_float():
    """CuPy passes a Python float as a double, and the kernel gets zero for 2.0."""
    benchmark(RawKernel(), (1,), (1,), (None, None, np.float32(2), 2.0, 3), budget_s=0.01)
    with pytest.raises(ArgumentError, match=r"scale expects a float for 'a'.*Pass np.float32\(2.0\)"):
        benchmark(RawKernel(), (1,), (1,), (None, None, 2.0, 2.0, 3))


def test_the_middle_half_is_shown_where_there_is_one():
    shown = repr(Benchmark("f", "the CPU", host=Timing((1000, 1100, 1200, 1300, 1400), floor_s=40e-9)))
    assert "host  1.2 µs  1.10 µs to 1.30 µs  40 ns  5 of 1 call" in shown


@dataclass(frozen=True)
class Stream:
    handle: int


@pytest.fixture
def launched(gpu, monkeypatch):
    """The stream of each launch of Numba, with a fake driver."""
    from numba.cuda import dispatcher

    streams, work, default = [], gpu.kernel(MS), Stream(0)

    def launch(self, args, configured):
        streams.append(int(configured.stream.handle))
        work()

    monkeypatch.setattr(dispatcher.driver, "_to_core_stream", lambda stream: stream or default)
    monkeypatch.setattr(dispatcher.CUDADispatcher, "call", launch)
    monkeypatch.setattr(default_stream, "current_stream", lambda: Stream(142))
    return streams


@pytest.mark.skipif(simulated(), reason="the simulator has no streams")
class TestKernelsConfiguredBefore:
    @pytest.fixture
    def configured(self, launched):
        return cuda.jit(lambda x: None)[1, 32]

    def test_they_are_seen_and_go_back_to_their_stream(self, launched, configured):
        found = benchmark(lambda *args: configured(*args), np.zeros(3))
        assert found.device.median_s == 1e-3 + 2e-6
        assert set(launched) == {142}
        assert configured.stream.handle == 0
        benchmark(cuda.jit(lambda x: None)[1, 32, Stream(7)], np.zeros(3))
        assert launched[-1] == 7, "a stream that was named is kept"

    def test_they_go_back_after_an_error_too(self, launched, configured):
        with pytest.raises(KeyError):
            benchmark(lambda: (configured(np.zeros(3)), {}["no"]))
        assert (launched, configured.stream.handle) == ([142], 0)

    @pytest.mark.parametrize(("caller", "stream"), [("numba.cuda.vectorizers", 0), ("my.module", 142)])
    def test_what_numba_launches_for_itself_stays(self, launched, configured, caller, stream):
        """Its ufuncs copy arrays in the stream of their kernel."""
        there = {"__name__": caller, "kernel": configured}
        exec("def launch(x):\n    kernel(x)", there)
        benchmark(there["launch"], np.zeros(3))
        assert set(launched) == {stream}


@pytest.mark.gpu
class TestOnTheGpu:
    @pytest.mark.parametrize(("duration", "rel"), [("5 us", 0.05), ("1 ms", 0.01)])
    def test_the_device_time_is_that_of_our_clock(self, duration, rel):
        copy = peers.make_copies()[duration]
        found = gg.benchmark(copy.launch)
        assert found.device.median_s == pytest.approx(peers.ours(copy), rel=rel)
        assert max(found.launch.median_s, found.device.median_s) < found.end_to_end.median_s

    @pytest.mark.parametrize("way", ["configured", "for all"])
    def test_a_kernel_that_was_configured_before_is_seen(self, way):
        import cupy as cp
        from numba import cuda

        @cuda.jit
        def add_one(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i] + 1

        x = cp.arange(2**24, dtype=cp.float32)
        out = cp.zeros_like(x)
        configured = add_one[2**16, 256]
        call = configured if way == "configured" else add_one.forall(x.size, tpb=256)
        found = gg.benchmark(call, x, out)
        assert bool((out == x + 1).all())
        assert 28e-6 < found.device.median_s < 280e-6
        plain = gg.benchmark(lambda: add_one[2**16, 256](x, out))
        assert found.device.median_s == pytest.approx(plain.device.median_s, rel=0.05)
        assert int(configured.stream.handle) == 0

    def test_a_reduction_of_numba_has_one_time(self):
        """It works in the default stream and waits there."""
        import cupy as cp
        from numba import cuda

        found = gg.benchmark(cuda.reduce(lambda a, b: a + b), cp.ones(2**26, dtype=cp.float32))
        assert (found.launch, found.device) == (None, None)
        # 256 MiB in at most 4.8 TB/s.
        assert found.end_to_end.median_s > 56e-6
