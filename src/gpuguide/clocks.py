"""What a clock must offer: protocols of the host's and the GPU's clock, so that tests can replace both."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from gpuguide.errors import GpuGuideError

__all__ = ["MAX_DELAY_NS", "CaptureError", "GpuClock", "HostClock", "SystemClock", "quiet"]

MAX_DELAY_NS = 5_000_000
"""Longest delay a GPU clock accepts, in nanoseconds: the delay kernel must not be able to hang."""


class CaptureError(GpuGuideError):
    """A call could not be captured in a CUDA graph (it synchronises or allocates, for example)."""


class HostClock(Protocol):
    """A clock of the host."""

    def now_ns(self) -> int:
        """Return the time now, in nanoseconds from an arbitrary start, never decreasing."""
        ...


class SystemClock:
    """The host's monotonic clock of highest resolution.

    Examples
    --------
    >>> clock = SystemClock()
    >>> clock.now_ns() <= clock.now_ns()
    True
    """

    def now_ns(self) -> int:
        """Return ``time.perf_counter_ns()``."""
        return time.perf_counter_ns()


class GpuClock(Protocol):
    """One non-blocking stream of a GPU, with what is needed to time the work put into it.

    Attributes
    ----------
    floors
        What an empty kernel costs, in nanoseconds, by timing method. Starts empty; `timing` fills it.
    """

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


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Python's garbage collector off, then as it was.

    Examples
    --------
    >>> with quiet():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
