"""The names of ``cupy.cuda`` that wait: devices, streams and events, on a virtual GPU."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu

__all__ = ["Device", "Names", "StreamClass", "cuda_names", "no_copy"]

_QUERY_NS = 1_000


def cuda_names(gpu: VirtualGpu) -> Any:
    """Return what the stand-in for CuPy has as ``cupy.cuda``: ``Device``, ``Stream``, ``Event`` and friends.

    There is one device, and what it has to do runs in order, whatever its stream. But to wait for a stream is
    to wait for what that stream has to do.

    >>> gpu = VirtualGpu()
    >>> cuda = cuda_names(gpu)
    >>> launch = gpu.launch("scale", busy_ns=1_000_000)
    >>> cuda.Stream(non_blocking=True).synchronize()
    >>> gpu.now_ns >= launch.done_ns
    False
    >>> cuda.Device().synchronize()
    >>> gpu.now_ns >= launch.done_ns
    True
    """
    streams: list[_Stream] = []
    null = _Stream(gpu, streams)
    of_streams: dict[str, Any] = {
        "Stream": StreamClass(null, lambda non_blocking: _Stream(gpu, streams, non_blocking)),
        "Event": lambda block=False, disable_timing=False, interprocess=False: _Event(gpu, streams),
        "get_current_stream": lambda: streams[gpu.stream],
        "get_elapsed_time": lambda start_event, end_event: end_event.elapsed_ms(start_event),
    }
    return Names(
        "cupy.cuda",
        Device=lambda device=0: Device(gpu, device),
        alloc_pinned_memory=_pinned,
        stream=Names("cupy.cuda.stream", **of_streams),
        runtime=Names(
            "cupy.cuda.runtime",
            deviceSynchronize=gpu.synchronize,
            streamSynchronize=lambda stream: streams[stream].synchronize(),
        ),
        **of_streams,
    )


def no_copy(module: Any, protocol: Any) -> NoReturn:
    """Refuse to be copied or pickled, as a module does."""
    raise TypeError("cannot pickle 'module' object")


def _pinned(size: int) -> bytearray:
    """Return memory of the host; like CuPy's, it may be larger than was asked for."""
    return bytearray(max(512, 1 << (size - 1).bit_length()))


class Names(SimpleNamespace):
    """A module that has these names alone, and those that `_others` finds, and says so."""

    def __init__(self, _module: str, _others: Callable[[str], Any] = lambda name: None, **names: Any) -> None:
        super().__init__(**names)
        self._module, self._others = _module, _others

    __reduce_ex__ = no_copy

    def __getattr__(self, name: str) -> Any:
        other = self._others(name)
        if other is not None:
            return other
        raise AttributeError(
            f"The stand-in for {self._module} has no {name!r}: it has only what the exercises need."
        )


class Device:
    """The one device, whatever its number."""

    def __init__(self, gpu: Any, number: int) -> None:
        self._gpu, self.id = gpu, number

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def synchronize(self) -> None:
        """Wait for everything."""
        self._gpu.synchronize()


class _Stream:
    """A stream; the first one of a machine is the default one."""

    def __init__(self, gpu: VirtualGpu, streams: list[_Stream], non_blocking: bool = False) -> None:
        self._gpu, self._streams, self._is_apart = gpu, streams, non_blocking
        self._around: list[int] = []
        self.ptr = len(streams)
        streams.append(self)

    def __enter__(self) -> _Stream:
        self._around.append(self._gpu.stream)
        return self.use()

    def __exit__(self, *_: object) -> None:
        self._gpu.stream = self._around.pop()

    def use(self) -> _Stream:
        """Let work go into it from now on."""
        self._gpu.stream = self.ptr
        return self

    @property
    def done(self) -> bool:
        """Whether the device has done what is in it."""
        return _is_reached(self._gpu, self._until_ns())

    def synchronize(self) -> None:
        """Wait for what is in it; the default one includes those that do not run beside it."""
        self._gpu.wait_for("a stream", self._until_ns())

    def wait_event(self, event: _Event) -> None:
        """Let what comes after this wait for an event."""
        self._gpu.done_ns[self.ptr] = max(self._done_ns, event.time_ns)

    def record(self, event: _Event | None = None) -> _Event:
        """Put an event at its end."""
        event = event or _Event(self._gpu, self._streams)
        default = 0 if self._is_apart else self._streams[0]._done_ns
        event.time_ns = max(self._gpu.now_ns, self._until_ns(), default)
        return event

    @property
    def _done_ns(self) -> int:
        return self._gpu.done_ns.get(self.ptr, 0)

    def _until_ns(self) -> int:
        # So does an H200: a wait for another stream leaves out the default one, though an event includes it.
        together = [each for each in self._streams if not each._is_apart]
        return self._done_ns if self.ptr else max(each._done_ns for each in together)


class StreamClass:
    """Called, it gives a stream; it has the default one under ``null``."""

    def __init__(self, null: Any, new: Callable[[bool], Any]) -> None:
        self.null, self._new = null, new

    def __call__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, *, priority: Any = None
    ) -> Any:
        """Return the default stream or another one, by the arguments of ``cupy.cuda.Stream``."""
        return self.null if null else self._new(non_blocking)


class _Event:
    def __init__(self, gpu: VirtualGpu, streams: list[_Stream]) -> None:
        self._gpu, self._streams, self.time_ns = gpu, streams, 0

    @property
    def done(self) -> bool:
        return _is_reached(self._gpu, self.time_ns)

    def record(self, stream: _Stream | None = None) -> None:
        (stream or self._streams[self._gpu.stream]).record(self)

    def synchronize(self) -> None:
        self._gpu.wait_for("an event", self.time_ns)

    def elapsed_ms(self, start: _Event) -> float:
        """Milliseconds since another event; refused, as by CUDA, until the device has reached this one."""
        if self._gpu.now_ns < self.time_ns:
            raise RuntimeError("cudaErrorNotReady: device not ready")
        return (self.time_ns - start.time_ns) * 1e-6


def _is_reached(gpu: VirtualGpu, time_ns: int) -> bool:
    gpu.host("query", _QUERY_NS)  # so that a loop that goes on asking ends
    return gpu.now_ns >= time_ns
