"""The names of ``cupy.cuda`` that wait: devices, streams and events, on a virtual GPU."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu

__all__ = ["Device", "Names", "StreamClass", "cuda_names"]

_QUERY_NS = 1_000


def cuda_names(gpu: VirtualGpu) -> Any:
    """Return what the stand-in for CuPy has as ``cupy.cuda``: ``Device``, ``Stream``, ``Event`` and friends.

    There is one device, and all streams are the same one: work runs in order.

    Parameters
    ----------
    gpu : VirtualGpu
        The machine behind it.

    Returns
    -------
    object
        With the names as attributes.

    Examples
    --------
    >>> gpu = VirtualGpu()
    >>> cuda_names(gpu).Device().synchronize()
    >>> [event.kind for event in gpu.log]
    ['synchronize']
    """
    stream = _Stream(gpu)
    of_streams: dict[str, Any] = {
        "Stream": StreamClass(stream, lambda: stream),
        "Event": lambda block=False, disable_timing=False, interprocess=False: _Event(gpu),
        "get_current_stream": lambda: stream,
        "get_elapsed_time": lambda start_event, end_event: end_event.elapsed_ms(start_event),
    }
    return Names(
        "cupy.cuda",
        Device=lambda device=0: Device(gpu, device),
        stream=Names("cupy.cuda.stream", **of_streams),
        runtime=Names(
            "cupy.cuda.runtime",
            deviceSynchronize=gpu.synchronize,
            streamSynchronize=lambda stream: gpu.synchronize(),
        ),
        **of_streams,
    )


class Names(SimpleNamespace):
    """A module that has these names alone, and those that `_others` finds, and says so."""

    def __init__(self, _module: str, _others: Callable[[str], Any] = lambda name: None, **names: Any) -> None:
        super().__init__(**names)
        self._module, self._others = _module, _others

    def __getattr__(self, name: str) -> Any:
        other = self._others(name)
        if other is not None:
            return other
        raise AttributeError(
            f"The stand-in for {self._module} has no {name!r}: it has only what the exercises need."
        )


class _Waits:
    """Something whose `synchronize` waits for the device."""

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    def synchronize(self) -> None:
        self._gpu.synchronize()

    def __enter__(self) -> _Waits:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Device(_Waits):
    """The one device, whatever its number."""

    def __init__(self, gpu: Any, number: int) -> None:
        super().__init__(gpu)
        self.id = number


class _Stream(_Waits):
    def use(self) -> _Stream:
        return self

    def wait_event(self, event: _Event) -> None:
        """Do nothing: what was asked for before the event comes first in any case."""

    def record(self, event: _Event | None = None) -> _Event:
        event = event or _Event(self._gpu)
        event.record()
        return event


class StreamClass:
    """Called, it gives a stream; it has the default one under ``null``."""

    def __init__(self, null: Any, new: Callable[[], Any]) -> None:
        self.null, self._new = null, new

    def __call__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, *, priority: Any = None
    ) -> Any:
        """Return the default stream or another one, by the arguments of ``cupy.cuda.Stream``."""
        return self.null if null else self._new()


class _Event:
    def __init__(self, gpu: VirtualGpu) -> None:
        self._gpu, self.time_ns = gpu, 0

    @property
    def done(self) -> bool:
        self._gpu.host("query of an event", _QUERY_NS)  # so that a loop that goes on asking ends
        return self._gpu.now_ns >= self.time_ns

    def record(self, stream: Any = None) -> None:
        self.time_ns = self._gpu.record()

    def synchronize(self) -> None:
        self._gpu.wait_for(self.time_ns)

    def elapsed_ms(self, start: _Event) -> float:
        """Milliseconds since another event; refused, as by CUDA, until the device has reached this one."""
        if self._gpu.now_ns < self.time_ns:
            raise RuntimeError("cudaErrorNotReady: device not ready")
        return (self.time_ns - start.time_ns) * 1e-6
