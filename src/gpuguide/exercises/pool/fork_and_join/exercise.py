"""Four kernels, two of which can run at the same time: events instead of waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values
from gpuguide.exercises.stand_ins.judging import (
    attempt,
    count,
    delay_found,
    race_found,
    seconds,
    unfinished_found,
    waits_found,
)
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_streams import StreamArray, StreamingGpu, bounds


@dataclass(frozen=True)
class Machine:
    """How long each kernel takes, in nanoseconds."""

    title: str
    prepare_ns: float
    left_ns: float
    right_ns: float
    join_ns: float


CASES = (
    Machine("a machine on which all kernels take equally long", 100_000, 100_000, 100_000, 100_000),
    Machine("a machine on which left takes long", 50_000, 300_000, 120_000, 40_000),
    Machine("a machine on which right takes long", 80_000, 90_000, 250_000, 60_000),
    Machine("a machine on which prepare takes long", 400_000, 90_000, 110_000, 90_000),
)
NAMES = ("prepare", "left", "right", "join")
N = 100
SLACK = 1.05


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Look for steps without an order, for wrong results, and for time that is lost."""
    for machine in CASES:
        if found := list(_findings(function, machine)):
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say how long a right answer takes, and how long the kernels take one after the other."""
    gpu, _, arguments = _set_up(CASES[0], "")
    function(*arguments)
    alone = sum(step.done_ns - step.started_ns for step in gpu.steps)
    return (
        f"Four kernels in {seconds(gpu.now_ns * 1e-9)}; one after the other they take "
        f"{seconds(alone * 1e-9)}."
    )


def _findings(function: Callable[..., Any], machine: Machine) -> Iterator[Finding]:
    gpu, out, arguments = _set_up(machine, source_of(function))
    case = f"On {machine.title},"
    _, finding = attempt(function, case, *arguments)
    found = (
        finding
        or _not_once(case, gpu)
        or race_found(case, gpu)
        or compare_values(case, out._data, np.full(N, 3 * 2 + 2 + 5, np.float32))
        or unfinished_found(case, gpu.unfinished)
        or waits_found(case, gpu)
        or _slow(case, gpu, _shortest_ns(machine))
    )
    if found:
        yield found


def _set_up(machine: Machine, source: str) -> tuple[StreamingGpu, StreamArray, tuple[Any, ...]]:
    gpu = StreamingGpu(1, 1, source)
    # One after the other in memory, so that what reads a and b reads nothing else.
    rows = gpu.array(np.empty((4, N), np.float32), "all four")._data
    x, a, b, out = map(partial(StreamArray, gpu), rows, ("x", "a", "b", "out"))

    def kernel(
        name: str, busy_ns: float, write: Callable[[], Any], into: StreamArray, *read: StreamArray
    ) -> Callable[[], None]:
        def put() -> None:
            sources = [bounds(each._data) for each in read] or [bounds(into._data)]
            # A kernel of two sources reads them one after the other, but both at once in time.
            span = min(low for low, _ in sources), max(high for _, high in sources)
            gpu.step(name, name, busy_ns, span, bounds(into._data), None)
            into._data[...] = write()

        return put

    prepare = kernel("prepare", machine.prepare_ns, lambda: 2.0, x)
    left = kernel("left", machine.left_ns, lambda: 3 * x._data, a, x)
    right = kernel("right", machine.right_ns, lambda: x._data + 5, b, x)
    join = kernel("join", machine.join_ns, lambda: a._data + b._data, out, a, b)
    return gpu, out, ((gpu.stream(), gpu.stream()), prepare, left, right, join)


def _shortest_ns(machine: Machine) -> int:
    """Return the time of an answer in which each kernel waits for what it needs, and for nothing else."""
    gpu, _, ((one, two), prepare, left, right, join) = _set_up(machine, "")
    with one:
        prepare()
    two.wait_event(one.record())
    with one:
        left()
    with two:
        right()
    one.wait_event(two.record())
    with one:
        join()
    one.synchronize()
    return gpu.now_ns


def _not_once(case: str, gpu: StreamingGpu) -> Finding | None:
    for name in NAMES:
        lines = [step.line for step in gpu.steps if step.kind == name]
        if len(lines) != 1:
            times = f"asked for {count(len(lines), 'time')}, and not once" if lines else "never asked for"
            return Finding("wrong", f"{case} {name} was {times}.", line=lines[1] if lines else None)
    return None


def _slow(case: str, gpu: StreamingGpu, shortest_ns: int) -> Finding | None:
    if gpu.now_ns <= SLACK * shortest_ns:
        return None
    why = delay_found(gpu) or Finding("limit", "left and right can run at the same time.")
    if len({step.stream for step in gpu.steps}) == 1:
        message = "left and right can run at the same time, but all four kernels are in one stream."
        why = Finding("limit", message)
    taken = f"{case} it takes {seconds(gpu.now_ns * 1e-9)}; {seconds(shortest_ns * 1e-9)} are enough."
    return replace(why, message=f"{taken} {why.message}")


EXERCISE = Exercise(
    name="fork_and_join",
    title="Fork and join",
    level="intermediate",
    minutes=15,
    teaches="An event carries an order from one stream to another while Python goes on.",
    task=FunctionTask(judge=judge, parameters=("streams", "prepare", "left", "right", "join"), praise=praise),
    lanes=("simulator",),
    pages=("streams",),
    tags=("CuPy", "streams", "events"),
)
