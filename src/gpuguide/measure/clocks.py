"""The clocks: the host's, and the GPU's, a stream with events, a delay kernel, graph capture and a flush.

What they must do is kept apart from how CuPy does it, so that tests can use fakes instead.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from gpuguide.errors import ArgumentError, GpuGuideError
from gpuguide.machine import backends
from gpuguide.measure.host_pace import HostPace

__all__ = [
    "DELAY_SOURCE",
    "EMPTY_SOURCE",
    "FLUSH_SOURCE",
    "MAX_DELAY_NS",
    "CaptureError",
    "CupyClock",
    "GpuClock",
    "HostClock",
    "SystemClock",
    "quiet",
]


MAX_DELAY_NS = 5_000_000
"""Longest delay a GPU clock accepts, in nanoseconds: the delay kernel must not be able to hang."""


class CaptureError(GpuGuideError):
    """A call could not be captured in a CUDA graph (it synchronises or allocates, for example)."""


class HostClock(Protocol):
    """A clock of the host."""

    def now_ns(self) -> int:
        """Return the time now, in nanoseconds from an arbitrary start, never decreasing."""
        ...

    @property
    def pace(self) -> HostPace:
        """The loop that runs before and after each sample of this clock."""
        ...


class SystemClock:
    """The host's monotonic clock of highest resolution."""

    pace = HostPace(time.perf_counter_ns)  # one per process: its best time is learnt once

    def now_ns(self) -> int:
        """Return ``time.perf_counter_ns()``."""
        return time.perf_counter_ns()


class GpuClock(Protocol):
    """One non-blocking stream of a GPU, with what is needed to time the work put into it."""

    floors: MutableMapping[str, int]

    @property
    def stream(self) -> Any:
        """The stream that all work goes into (a ``cupy.cuda.Stream`` on a real GPU)."""
        ...

    def use(self) -> AbstractContextManager[Any]:
        """Return a context in which `stream` is the current stream."""
        ...

    def record(self) -> Any:
        """Put an event into the stream and return it."""
        ...

    def pending(self, event: Any) -> bool:
        """Return True while the GPU has not reached `event`; never wait."""
        ...

    def elapsed_ns(self, start: Any, stop: Any) -> int:
        """Wait for `stop` and return the nanoseconds of GPU time between two events."""
        ...

    def delay(self, ns: int) -> None:
        """Keep the stream busy for `ns` nanoseconds (at most `MAX_DELAY_NS`) without using memory."""
        ...

    def flush(self) -> None:
        """Fill the L2 cache with other, clean lines by reading twice its size."""
        ...

    def empty(self) -> None:
        """Launch a kernel that does nothing."""
        ...

    def capture(self, call: Callable[[], Any], n: int) -> Any:
        """Capture `n` calls in one graph without running them; raise `CaptureError` when that fails."""
        ...

    def replay(self, graph: Any) -> None:
        """Launch a captured graph."""
        ...

    def synchronize(self) -> None:
        """Wait until the stream is empty."""
        ...

    def synchronize_all(self) -> None:
        """Wait until every stream is empty, including those of other code."""
        ...


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Python's garbage collector off, then as it was."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# No GPU runs eight cycles per nanosecond, so the second bound ends a delay only if the timer of the first one
# stands still.
DELAY_SOURCE = f"""
// One thread spins on the nanosecond timer. Two bounds, so that it cannot hang: time, and clock cycles.
extern "C" __global__ void delay(unsigned long long ns) {{
    const unsigned long long limit = {MAX_DELAY_NS}ULL;
    const long long first_cycle = clock64();
    unsigned long long start, now;
    if (ns > limit) ns = limit;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {{
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    }} while (now - start < ns && clock64() - first_cycle < 8LL * limit);
}}
"""

EMPTY_SOURCE = """
extern "C" __global__ void empty() {}
"""

FLUSH_SOURCE = """
// Reads n vectors of 16 bytes; the store never happens, but the compiler cannot know that.
extern "C" __global__ void flush(const uint4* x, long long n, unsigned int* never) {
    unsigned int sum = 0;
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint4 v = x[i];
        sum |= v.x | v.y | v.z | v.w;
    }
    if (sum == 0x9e3779b9u) *never = sum;
}
"""

# Together 2048 threads, as many as a multiprocessor of an H200 holds.
_FLUSH_THREADS, _FLUSH_BLOCKS_PER_SM = 512, 4


class CupyClock:
    """A `GpuClock` on the current device, with a non-blocking stream of its own."""

    def __init__(self, *, flush: Callable[[], Any] | None = None) -> None:
        self._cupy = backends.cupy()
        self.floors: MutableMapping[str, int] = {}
        # Not blocking: work in the default stream neither waits for this stream nor holds it up.
        self._stream = self._cupy.cuda.Stream(non_blocking=True)
        self._other_flush = flush
        self._delay = backends.raw_kernel(DELAY_SOURCE, "delay")
        self._empty = backends.raw_kernel(EMPTY_SOURCE, "empty")
        self._read = backends.raw_kernel(FLUSH_SOURCE, "flush")

    @property
    def stream(self) -> Any:
        """The ``cupy.cuda.Stream``."""
        return self._stream

    @contextmanager
    def use(self) -> Iterator[Any]:
        """Make the stream current for CuPy, and for Numba's launches that name no stream."""
        # Plain launches of Numba would go to the default stream, where this clock does not see them.
        with backends.launches_follow_cupy(), self._stream as stream:
            yield stream

    def record(self) -> Any:
        """Record and return a new ``cupy.cuda.Event``."""
        return self._stream.record()

    def pending(self, event: Any) -> bool:
        """Return True while the GPU has not reached `event`."""
        return not event.done

    def elapsed_ns(self, start: Any, stop: Any) -> int:
        """Wait for `stop`; return the nanoseconds since `start` (the events resolve about 0.5 us)."""
        stop.synchronize()
        milliseconds: float = self._cupy.cuda.get_elapsed_time(start, stop)
        return round(milliseconds * 1e6)

    def delay(self, ns: int) -> None:
        """Spin for `ns` nanoseconds in one thread."""
        if not 0 <= ns <= MAX_DELAY_NS:
            raise ArgumentError(f"expected a delay of 0 to {MAX_DELAY_NS} ns, got {ns}")
        with self._stream:
            self._delay((1,), (1,), (np.uint64(ns),))

    def flush(self) -> None:
        """Read twice the size of the L2 cache, so that it holds clean lines of other data."""
        with self._stream:
            if self._other_flush is not None:
                self._other_flush()
                return
            buffer, never, blocks = self._flush_buffers
            self._read((blocks,), (_FLUSH_THREADS,), (buffer, np.int64(buffer.size // 4), never))

    def empty(self) -> None:
        """Launch a kernel that does nothing, on the current stream."""
        self._empty((1,), (1,), ())

    def capture(self, call: Callable[[], Any], n: int) -> Any:
        """Capture `n` calls in a ``cupy.cuda.Graph``; the calls must have run once before."""
        with _numba_keeps_memory(), self.use():
            self._stream.begin_capture()
            failure: Exception | None = None
            try:
                for _ in range(n):
                    call()
            except Exception as error:  # whatever was raised, the capture must be ended
                failure = error
            try:
                graph = self._stream.end_capture()
            except Exception as error:  # CUDARuntimeError; a broken capture fails here a second time
                failure = failure or error
        if failure is not None:
            raise CaptureError(f"{type(failure).__name__}: {failure}") from failure
        return graph

    def replay(self, graph: Any) -> None:
        """Launch `graph` into the stream."""
        graph.launch(self._stream)

    def synchronize(self) -> None:
        """Wait until the stream is empty."""
        self._stream.synchronize()

    def synchronize_all(self) -> None:
        """Wait until every stream of the device is empty."""
        self._cupy.cuda.Device().synchronize()

    @cached_property
    def _flush_buffers(self) -> tuple[Any, Any, int]:
        """The buffer to read, a place never written, and the number of blocks."""
        cp = self._cupy
        attributes = cp.cuda.Device().attributes
        # Whole vectors of 16 bytes, as the kernel reads them, each of four words.
        buffer = cp.zeros(2 * attributes["L2CacheSize"] // 16 * 4, dtype=np.uint32)
        never = cp.zeros(1, dtype=np.uint32)
        self._stream.synchronize()
        return buffer, never, _FLUSH_BLOCKS_PER_SM * attributes["MultiProcessorCount"]


def _numba_keeps_memory() -> AbstractContextManager[Any]:
    """Return a context in which Numba frees nothing, which would end a capture; nothing without Numba."""
    # Not loaded, so none of its arrays can be freed; loading it now would take long.
    if "numba.cuda" not in sys.modules:
        return nullcontext()
    keep: AbstractContextManager[Any] = backends.cuda.defer_cleanup()
    return keep
