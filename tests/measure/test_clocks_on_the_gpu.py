"""The CuPy clock: its kernels compile, it drives CuPy as it should, and on a GPU it tells the time."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import peers
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import ArgumentError
from gpuguide.machine import backends
from gpuguide.measure import clocks
from gpuguide.measure.clocks import DELAY_SOURCE, FLUSH_SOURCE, MAX_DELAY_NS, CaptureError, CupyClock
from gpuguide.measure.timing import time_device


class FakeStream:
    """A stream that writes down what is done to it; `invalid` makes the end of a capture fail."""

    def __init__(self, log):
        self.log, self.invalid = log, False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def synchronize(self):
        pass

    def begin_capture(self):
        self.log.append("begin")

    def end_capture(self):
        self.log.append("end")
        if self.invalid:
            raise RuntimeError("cudaErrorStreamCaptureInvalidated")
        return "graph"


@pytest.fixture
def cupy(monkeypatch):
    """CuPy as far as the clock uses it, on a stream that does not block; Numba CUDA is not loaded."""
    monkeypatch.setattr(clocks, "sys", SimpleNamespace(modules={}))
    module = SimpleNamespace(log=[], launches=[])
    module.stream = FakeStream(module.log)
    module.zeros = lambda n, dtype: SimpleNamespace(size=n, nbytes=n * 4)
    attributes = {"L2CacheSize": 4096, "MultiProcessorCount": 2}
    module.cuda = SimpleNamespace(
        Stream=lambda non_blocking: non_blocking and module.stream,
        Device=lambda: SimpleNamespace(attributes=attributes),
    )
    monkeypatch.setattr(backends, "cupy", lambda: module)
    kernel = lambda source, name: lambda *launch: module.launches.append((name, *launch))  # noqa: E731
    monkeypatch.setattr(backends, "raw_kernel", kernel)
    return module


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


def test_a_capture_makes_the_calls_while_numba_frees_nothing(cupy, monkeypatch):
    @contextmanager
    def defer_cleanup():
        cupy.log.append("defer")
        yield
        cupy.log.append("cleanup")

    numba_cuda = SimpleNamespace(defer_cleanup=defer_cleanup)
    monkeypatch.setattr(clocks, "sys", SimpleNamespace(modules={"numba.cuda": numba_cuda}))
    monkeypatch.setattr(backends, "cuda", numba_cuda, raising=False)
    assert CupyClock().capture(lambda: cupy.log.append("call"), 2) == "graph"
    assert cupy.log == ["defer", "begin", "call", "call", "end", "cleanup"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: None, "cudaErrorStreamCaptureInvalidated"),
    ],
)
def test_a_failed_capture_is_ended_and_says_what_failed_first(cupy, call, message):
    cupy.stream.invalid = True
    with pytest.raises(CaptureError, match=message):
        CupyClock().capture(call, 2)
    assert cupy.log == ["begin", "end"]


@needs_compilers()
def test_the_kernels_compile_and_do_what_they_say():
    delay, flush = raw_facts(DELAY_SOURCE, "delay"), raw_facts(FLUSH_SOURCE, "flush")
    copy = raw_facts(peers.SOURCE, "copy_passes")
    assert delay.spills == flush.spills == copy.spills == 0
    assert (delay.ptx.count("%globaltimer"), delay.ptx.count("%clock64")) == (2, 2)
    assert flush.count("ld.global.v4") + flush.count("ld.global.nc.v4") >= 1
    assert flush.count("st.global") == 1
    # The passes of the peers' kernel are not folded into one.
    assert copy.count("ld.global.v4") == copy.count("st.global") > 0


@pytest.mark.gpu
class TestOnAGpu:
    def test_a_delay_takes_as_long_as_it_says(self):
        clock = CupyClock()
        samples = time_device(lambda: clock.delay(1_000_000), clock, n_samples=5)
        assert all(990_000 <= ns <= 1_100_000 for ns in samples.ns)
        assert not samples.host_bound

    def test_a_call_on_another_stream_is_refused(self):
        clock, other = CupyClock(), CupyClock()

        def call():
            with other.use():
                other.empty()

        with pytest.raises(ArgumentError, match="expected work on the clock's stream"):
            time_device(call, clock)

    def test_numba_kernels_are_captured(self):
        """A launch that names no stream follows the clock's, whatever array it is given."""
        cp = backends.cupy()
        clock = CupyClock()
        with clock.use():
            x = cp.zeros(1 << 16, dtype=cp.float32)
        clock.synchronize()

        @backends.cuda.jit
        def add_one_kernel(x):
            i = backends.cuda.grid(1)
            if i < x.size:
                x[i] += 1

        for array in (x, backends.numba_view(x)):
            samples = time_device(lambda: add_one_kernel[256, 256](array), clock, n_samples=5)  # noqa: B023
            assert samples.method == "graph"
            assert float(x[0]) == float(x[-1]) >= samples.n_calls

    # CuPy 14.2 prefers `Stream.from_external`, which its older versions do not have.
    @pytest.mark.filterwarnings("ignore:ExternalStream is deprecated:DeprecationWarning")
    def test_we_agree_with_every_peer_that_is_installed(self):
        assert not [str(row) for row in peers.compare() if row.within is False]
