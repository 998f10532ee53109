"""A service that must not compile while its clients wait, and must not remember how it was warmed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt, count, seconds, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu

MOST_BYTES = 4096
HALF, SINGLE, DOUBLE = map(np.dtype, ("float16", "float32", "float64"))


class Service:
    """Divides each array by the largest magnitude of its dtype so far."""

    _seen: dict[str, None]

    def __new__(cls, *_: Any) -> Service:
        """Make a service that has seen nothing; whoever calls `__init__` once more does not change that."""
        service = super().__new__(cls)
        service._seen = {}
        return service

    def __init__(self, cp: Any) -> None:
        self.cp = cp
        self.largest: dict[Any, Any] = {}

    def answer(self, x: Any) -> Any:
        """Scale an array of the host."""
        if not isinstance(x, np.ndarray):
            kind = f"{type(x).__module__}.{type(x).__name__}"
            raise TypeError(f"answer takes an array of NumPy, as clients send it; got {kind}")
        self._seen[str(x.dtype)] = None
        x_device = self.cp.asarray(x)
        largest = self._magnitude(x_device)
        if x.dtype in self.largest:
            largest = self.cp.maximum(self.largest[x.dtype], largest)
        self.largest[x.dtype] = largest
        return self.cp.asnumpy(x_device / largest)

    def _magnitude(self, x: Any) -> Any:
        return self.cp.abs(x).max()


class OtherService(Service):
    """Does the same by another kernel, so that only its own answers tell what they need."""

    def _magnitude(self, x: Any) -> Any:
        return self.cp.sqrt(self.cp.square(x).max())


#: The service, the dtypes that are announced, and those of the requests that come.
SERIES = (
    (Service, (SINGLE,), (SINGLE, SINGLE, SINGLE)),
    (Service, (SINGLE, DOUBLE), (DOUBLE, SINGLE, DOUBLE, SINGLE)),
    (Service, (DOUBLE, HALF, SINGLE), (HALF, SINGLE, HALF)),
    (OtherService, (DOUBLE, SINGLE), (SINGLE, DOUBLE, SINGLE)),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Start a service for each series of requests, and look on while it answers."""
    for make_service, dtypes, requests in SERIES:
        gpu = VirtualGpu(source=source_of(function))
        case = f"For {' and '.join(map(str, dtypes))}"
        if found := list(_findings(function, case, FakeCupy(gpu), make_service, dtypes, requests)):
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say how long the first client waits, warm and cold."""
    waits = []
    for start in (function, None):
        gpu = VirtualGpu()
        cp = FakeCupy(gpu)
        service = Service(cp) if start is None else start(cp, Service, [SINGLE])
        begin = gpu.now_ns
        service.answer(np.ones(4, SINGLE))
        waits.append((gpu.now_ns - begin) * 1e-9)
    return f"The first client waits {seconds(waits[0])} instead of {seconds(waits[1])}. (Virtual times.)"


def _findings(
    function: Callable[..., Any],
    case: str,
    cp: FakeCupy,
    make_service: type[Service],
    dtypes: tuple[Any, ...],
    requests: tuple[Any, ...],
) -> Iterator[Finding]:
    announced = list(dtypes)
    service, finding = attempt(function, case, cp, make_service, announced)
    if finding is None and not isinstance(service, make_service):
        finding = Finding("wrong", f"{case} a service must be returned; got {shown(service)}.")
    elif finding is None and service._seen:
        # Not what it remembers now: whoever clears that knows how this service works inside.
        seen = " and ".join(service._seen)
        message = f"{case} the service must have seen nothing yet; it has answered requests of {seen}."
        finding = Finding("wrong", f"{message} Do not clear what it remembers: return a new one.")
    finding = finding or unchanged(case, "dtypes", announced, [*dtypes])
    if finding is not None:
        yield finding
        return
    copied = sum(event.nbytes for event in cp.gpu.events("to_device"))
    if copied > MOST_BYTES:
        message = f"{case} the start copied {copied} bytes to the GPU; at most {MOST_BYTES} are allowed."
        yield Finding("limit", message, line=cp.gpu.events("to_device")[-1].line)
    largest: dict[Any, Any] = {}
    for number, dtype in enumerate(requests, 1):
        # The first ones are small, so that whatever the service remembers too much of shows.
        x = (np.arange(1, 4) * 2.0 ** (number - 20)).astype(dtype)
        largest[dtype] = max(largest.get(dtype, dtype.type(0)), x.max())
        before = len(cp.gpu.log)
        answer = service.answer(x)
        request = f"{case}, request {number} ({dtype}):"
        if wrong := compare_values(request, answer, x / largest[dtype]):
            yield wrong
            return
        compiled = [event.name for event in cp.gpu.log[before:] if event.compiled]
        if compiled:
            kernels = f"{count(len(compiled), 'kernel')} compiled while the client waited"
            them = "it" if len(compiled) == 1 else "them"
            message = f"{request} {kernels}: {', '.join(compiled)}. No request at the start needed {them}."
            yield Finding("cold", message)
            return


EXERCISE = Exercise(
    name="warm_start",
    title="A service that starts warm",
    level="beginner",
    minutes=10,
    teaches="Kernels belong to the process, and each dtype and each path through the code has its own.",
    task=FunctionTask(judge=judge, parameters=("cp", "make_service", "dtypes"), praise=praise),
    lanes=("simulator",),
    pages=("first_call",),
    tags=("first call", "compiling", "CuPy"),
)
