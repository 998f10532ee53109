"""NumPy under CuPy's name, with several GPUs: what streams were asked for runs late, in any order they allow.

Kernels that take an output, copies between memories and events wait in the queue of their stream. Whoever
waits for a stream has its queue run, and those of other streams as far as it must, else as chance will have
it. So code that lacks an event gives wrong results in some order.
"""

from __future__ import annotations

import ctypes
import warnings
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ManyGpus", "ndarray"]


class _Pointer:
    """A place in a GPU's memory, as ``array.data`` gives it."""

    def __init__(self, array: ndarray) -> None:
        self.array = array

    @property
    def ptr(self) -> int:
        return int(self.array.__array_interface__["data"][0])

    def copy_from_device_async(self, source: _Pointer, n_bytes: int, stream: Any) -> None:
        """Copy when the stream gets there."""
        assert n_bytes == source.array.nbytes == self.array.nbytes
        stream.ask(lambda: np.copyto(self.array, source.array), writes=self.array)


class ndarray(np.ndarray):
    """An array that knows on which GPU it is."""

    gpus: Any = None
    number = 0

    def __array_finalize__(self, other: Any) -> None:
        self.gpus, self.number = getattr(other, "gpus", None), getattr(other, "number", 0)

    @property
    def device(self) -> Any:
        """The GPU whose memory holds it."""
        return self.gpus.cuda.Device(self.number)

    @property
    def data(self) -> Any:  # type: ignore[override]
        """Where it is."""
        return _Pointer(self)

    def copy(self, order: Any = "C") -> Any:
        """Bring it to the current GPU; work on the array must have ended there."""
        self.gpus.settled(self)
        return self.gpus.here(np.array(self))

    def get(self, stream: Any = None, out: Any = None, blocking: bool = True) -> np.ndarray:
        """Copy to the host in a stream; wait for it unless told otherwise."""
        stream, out = stream or self.gpus.cuda.get_current_stream(), np.array(self) if out is None else out
        stream.ask(lambda: np.copyto(out, self), writes=out)
        if blocking:
            stream.synchronize()
        return np.asarray(out)

    def set(self, values: Any, stream: Any) -> None:
        """Copy from the host when the stream gets there."""
        stream.ask(lambda: np.copyto(self, values), writes=self)

    def __mul__(self, other: Any) -> Any:
        if self.number != self.gpus.current:
            warnings.warn("The device where the array resides is different.", UserWarning, stacklevel=2)
        return self.gpus.here(np.array(self) * np.array(other))

    def __matmul__(self, other: Any) -> Any:
        self.gpus.cuda.get_current_stream().synchronize()
        return self.gpus.here(np.array(self) @ np.array(other))


class ManyGpus:
    """As much of CuPy as topic and page need, for `n` GPUs; another seed gives another order of streams."""

    int32, int64, float32, float64 = np.int32, np.int64, np.float32, np.float64

    def __init__(self, n: int, seed: int = 0, *, peers: bool = True) -> None:
        self.n, self.peers = n, peers
        self._rng = np.random.default_rng(seed)
        self.current = 0
        self.streams: list[_Stream] = []
        self._defaults = [_Stream(self, number) for number in range(n)]
        self._using: list[_Stream] = []
        self.ndarray = ndarray
        self.ran: list[int] = []
        self.allowed = {(one, other): False for one in range(n) for other in range(n)}
        self.cuda = SimpleNamespace(
            Device=lambda number=None: _Device(self, self.current if number is None else number),
            Stream=lambda non_blocking=False: _Stream(self, self.current),
            Event=lambda disable_timing=False: _Event(self.current),
            get_current_stream=self._stream,
            get_elapsed_time=lambda begin, end: 1.0,
            nccl=_Nccl(),
            runtime=SimpleNamespace(
                getDeviceCount=lambda: n,
                deviceCanAccessPeer=lambda one, other: int(peers),
                deviceEnablePeerAccess=lambda other: self._allow(other, True, "PeerAccessAlreadyEnabled"),
                deviceDisablePeerAccess=lambda other: self._allow(other, False, "PeerAccessNotEnabled"),
                memcpyPeerAsync=self._copy_between,
                CUDARuntimeError=RuntimeError,
            ),
        )

    def _allow(self, other: int, yes: bool, twice: str) -> None:
        if self.allowed[self.current, other] == yes:
            raise RuntimeError(f"cudaError{twice}")
        self.allowed[self.current, other] = yes

    def _copy_between(self, to: int, target: int, origin: int, source: int, n_bytes: int, ptr: int) -> None:
        stream = next(stream for stream in self.streams if stream.ptr == ptr)
        assert stream.number == source, "a copy is asked for in a stream of the GPU that sends"
        stream.ask(lambda: ctypes.memmove(to, origin, n_bytes))

    def _stream(self) -> _Stream:
        own = [stream for stream in self._using if stream.number == self.current]
        return own[-1] if own else self._defaults[self.current]

    def here(self, values: Any) -> ndarray:
        """Make an array on the current GPU."""
        made = np.asarray(values).view(ndarray)
        made.gpus, made.number = self, self.current
        return made

    def run(self, until: Callable[[], bool]) -> None:
        """Let streams go on, one step of a stream chosen by chance at a time, until something holds."""
        while not until():
            ready = [stream for stream in self.streams if stream.can_go_on()]
            assert ready, "every stream waits for another: a deadlock"
            ready[int(self._rng.integers(len(ready)))].go_on()

    def settled(self, array: np.ndarray) -> None:
        """Refuse an array that a stream has still to write to."""
        waiting = [step for stream in self.streams for step in stream.queue]
        assert not any(step.writes is not None and np.shares_memory(step.writes, array) for step in waiting)

    def zeros(self, shape: Any, dtype: Any = float) -> ndarray:
        return self.here(np.zeros(shape, dtype))

    def empty(self, shape: Any, dtype: Any = float) -> ndarray:
        return self.here(np.full(shape, 99, dtype))

    def full(self, shape: Any, value: Any, dtype: Any = float) -> ndarray:
        return self.here(np.full(shape, value, dtype))

    def arange(self, *args: Any, dtype: Any = None) -> ndarray:
        return self.here(np.arange(*args, dtype=dtype))

    def asarray(self, values: Any) -> ndarray:
        return values if isinstance(values, ndarray) else self.here(values)

    def get_default_memory_pool(self) -> Any:
        return SimpleNamespace(free_all_blocks=lambda: None)

    def _later(self, call: Callable[..., Any], *arrays: Any, out: Any) -> None:
        """Compute when the stream gets there."""
        numbers = {each.number for each in (*arrays, out) if isinstance(each, ndarray)}
        assert self.peers or numbers == {self.current}, "an array of another GPU"
        self._stream().ask(lambda: np.copyto(out, call(*map(np.array, arrays))), writes=out)

    def multiply(self, a: Any, b: Any, out: Any) -> None:
        self._later(np.multiply, a, b, out=out)

    def add(self, a: Any, b: Any, out: Any) -> None:
        self._later(np.add, a, b, out=out)

    def copyto(self, out: Any, a: Any) -> None:
        self._later(np.array, a, out=out)

    def ElementwiseKernel(self, inputs: str, outputs: str, source: str, name: str) -> Any:
        """Give the integral of 4 / (1 + x^2), which is what the topic's kernel approaches."""
        assert name == "integrate"

        def call(left: Any, points: int, step: float) -> ndarray:
            assert left.number == self.current, "an array of another GPU"
            self.ran.append(self.current)
            width = points * step
            return self.here(4 * np.arctan(width / (1 + np.array(left) * (np.array(left) + width))))

        return Kernel(call)

    def RawKernel(self, source: str, name: str) -> Any:
        """Give the step of the heat equation."""
        assert name == "heat"

        def call(blocks: Any, threads: Any, arrays: Any) -> None:
            now, above, below, then, rows, quads = arrays
            assert now.shape == then.shape == (int(rows), 4 * int(quads))
            assert blocks[0] * threads[0] >= quads
            assert blocks[1] * 16 >= rows
            assert now.number == then.number == self.current
            for edge in (above, below):
                assert edge.number == self.current or self.allowed[self.current, edge.number]
            number = self.current

            def step() -> None:
                self.ran.append(number)
                tall = np.vstack([above, now, below])
                wide = np.pad(tall[1:-1], ((0, 0), (1, 1)))
                around = tall[:-2] + tall[2:] + wide[:, :-2] + wide[:, 2:]
                np.copyto(then, now + np.float32(0.125) * (around - 4 * now))

            self._stream().ask(step, writes=then)

        return call


class Kernel(NamedTuple):
    """A kernel that may have run: what it holds is of no use to another process."""

    call: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)


class _Nccl:
    """NCCL, as much as is used of it: it adds up when all have called, within a group."""

    available, NCCL_FLOAT32, NCCL_SUM = True, "float32", "sum"

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, int, int]] = []
        self.open = False
        self.NcclCommunicator = SimpleNamespace(initAll=self._connect)

    def _connect(self, gpus: Any) -> list[Any]:
        n = gpus if isinstance(gpus, int) else len(gpus)
        return [SimpleNamespace(allReduce=self._all_reduce) for _ in range(n)]

    def _all_reduce(self, own: int, total: int, n: int, kind: str, what: str, stream: int) -> None:
        assert (kind, what, self.open) == ("float32", "sum", True)
        self.calls.append((own, total, n, stream))

    def groupStart(self) -> None:
        self.open = True

    def groupEnd(self) -> None:
        def view(pointer: int, n: int) -> np.ndarray:
            return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (n,))

        total = sum(view(own, n).copy() for own, _, n, _ in self.calls)
        for _, there, n, _ in self.calls:
            view(there, n)[:] = total
        assert len({stream for *_, stream in self.calls}) == len(self.calls)
        self.calls.clear()
        self.open = False


class _Device:
    __hash__ = None  # type: ignore[assignment]  # as CuPy's

    def __init__(self, gpus: ManyGpus, number: int) -> None:
        if not 0 <= number < gpus.n:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.gpus, self.id, self.pci_bus_id = gpus, number, f"0000:0{number}:00.0"
        self._before: list[int] = []

    def __enter__(self) -> _Device:
        self._before.append(self.gpus.current)
        self.gpus.current = self.id
        return self

    def __exit__(self, *_: object) -> None:
        self.gpus.current = self._before.pop()

    def use(self) -> None:
        self.gpus.current = self.id

    def synchronize(self) -> None:
        own = [stream for stream in self.gpus.streams if stream.number == self.id]
        self.gpus.run(lambda: not any(stream.queue for stream in own))


class _Event:
    def __init__(self, number: int) -> None:
        self.number = number
        self.asked = self.reached = 0
        self.stream: Any = None

    def record(self, stream: _Stream) -> None:
        """Mark the present end of a stream of the same GPU."""
        assert stream.number == self.number, "an event of another GPU"
        self.asked, self.stream = self.asked + 1, stream
        count = self.asked

        def reach() -> None:
            self.reached = count

        stream.ask(reach)

    def synchronize(self) -> None:
        self.stream.gpus.run(lambda: self.reached == self.asked)


class _Step(NamedTuple):
    """Something that a stream was asked for: when it may begin, and the array that it writes to."""

    action: Callable[[], object]
    may: Callable[[], bool]
    writes: np.ndarray | None


class _Stream:
    def __init__(self, gpus: ManyGpus, number: int) -> None:
        self.gpus, self.number = gpus, number
        self.queue: deque[_Step] = deque()
        self.ptr = id(self)
        gpus.streams.append(self)

    def ask(
        self,
        action: Callable[[], object],
        may: Callable[[], bool] = lambda: True,
        writes: np.ndarray | None = None,
    ) -> None:
        self.queue.append(_Step(action, may, writes))

    def can_go_on(self) -> bool:
        return bool(self.queue) and self.queue[0].may()

    def go_on(self) -> None:
        self.queue.popleft().action()

    def record(self) -> _Event:
        event = _Event(self.number)
        event.record(self)
        return event

    def wait_event(self, event: _Event) -> None:
        """Wait for what the event marks now, not for what it will mark later."""
        count = event.asked
        self.ask(lambda: None, may=lambda: event.reached >= count)

    def synchronize(self) -> None:
        self.gpus.run(lambda: not self.queue)

    def __enter__(self) -> _Stream:
        assert self.number == self.gpus.current, "a stream of another GPU"
        self.gpus._using.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.gpus._using.remove(self)
