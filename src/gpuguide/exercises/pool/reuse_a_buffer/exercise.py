"""A pipeline with a stream for each kind of work: events keep its steps in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
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
from gpuguide.exercises.stand_ins.virtual_streams import StreamingGpu, run_on


@dataclass(frozen=True)
class Machine:
    """A machine in words, bytes per nanosecond each way, the time of the work, and what it has to do."""

    title: str
    in_rate: float
    out_rate: float
    work_ns: float
    n_chunks: int
    n_pairs: int


N = 1000
CASES = (
    Machine("a machine on which all steps take equally long", 0.04, 0.04, 100_000, 8, 2),
    Machine("a machine whose link is slow into the GPU", 0.02, 0.08, 60_000, 7, 3),
    Machine("a machine whose work is slow", 0.05, 0.05, 250_000, 9, 2),
    Machine("a machine whose link is slow out of the GPU", 0.08, 0.016, 90_000, 6, 2),
    Machine("a machine with one pair of arrays", 0.04, 0.05, 70_000, 4, 1),
    Machine("a machine with more pairs than chunks", 0.04, 0.04, 100_000, 2, 3),
    Machine("a machine without a chunk", 0.04, 0.04, 100_000, 0, 2),
)
SLACK = 1.05


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Look for steps without an order, for wrong results, and for time that is lost."""
    for machine in CASES:
        if found := list(_findings(function, machine)):
            yield from found
            return


def praise(function: Callable[..., Any]) -> str:
    """Say how long a right answer takes, and how long the steps take one after the other."""
    gpu, arguments = _set_up(CASES[0], "")
    function(*arguments)
    alone = sum(step.done_ns - step.started_ns for step in gpu.steps)
    chunks = count(CASES[0].n_chunks, "chunk")
    return (
        f"{chunks} in {seconds(gpu.now_ns * 1e-9)}; one step after the other takes {seconds(alone * 1e-9)}."
    )


def _findings(function: Callable[..., Any], machine: Machine) -> Iterator[Finding]:
    gpu, arguments = _set_up(machine, source_of(function))
    _, _, x_host, out_host, _ = arguments
    before = x_host.copy()
    chunks, pairs = count(machine.n_chunks, "chunk"), count(machine.n_pairs, "pair")
    case = f"On {machine.title}, with {chunks} and {pairs},"
    _, finding = attempt(function, case, *arguments)
    found = (
        finding
        or race_found(case, gpu)
        or compare_values(case, out_host, 3 * before)
        or unfinished_found(case, [step for step in gpu.unfinished if step.kind == "copy out"])
        or unchanged(case, "x_host", x_host, before)
        or _slow(case, gpu, machine)
    )
    if found:
        yield found


def _set_up(machine: Machine, source: str) -> tuple[StreamingGpu, tuple[Any, ...]]:
    rng = np.random.default_rng(machine.n_chunks)
    x_host = rng.integers(1, 99, (machine.n_chunks, N)).astype(np.float32)
    out_host = np.full_like(x_host, np.nan)
    pinned = {"x_host": x_host, "out_host": out_host}
    gpu = StreamingGpu(machine.in_rate, machine.out_rate, source, pinned)
    row = np.empty(N, np.float32)
    pairs = [
        (gpu.array(row, f"x of pair {i}"), gpu.array(row, f"out of pair {i}")) for i in range(machine.n_pairs)
    ]
    work = run_on(gpu, lambda x: 3 * x, machine.work_ns)
    return gpu, ([gpu.stream() for _ in range(3)], pairs, x_host, out_host, work)


def _shortest_ns(machine: Machine) -> int:
    """Return the time of a pipeline in which each step waits for what it needs, and for nothing else."""
    gpu, (streams, pairs, x_host, out_host, work) = _set_up(machine, "")
    copy_in, compute, copy_out = streams
    freed: list[Any] = []
    read: list[Any] = []
    for i in range(machine.n_chunks):
        x, out = pairs[i % len(pairs)]
        if i >= len(pairs):
            copy_in.wait_event(read[i - len(pairs)])
            compute.wait_event(freed[i - len(pairs)])
        x.set(x_host[i], stream=copy_in)
        compute.wait_event(copy_in.record())
        with compute:
            work(x, out)
        read.append(compute.record())
        copy_out.wait_event(read[-1])
        out.get(out=out_host[i], stream=copy_out, blocking=False)
        freed.append(copy_out.record())
    copy_out.synchronize()
    return gpu.now_ns


def _slow(case: str, gpu: StreamingGpu, machine: Machine) -> Finding | None:
    if waited := waits_found(case, gpu):
        return waited
    shortest_ns = _shortest_ns(machine)
    if gpu.now_ns <= SLACK * shortest_ns:
        return None
    why = delay_found(gpu) or Finding("limit", "A stream waits for more than it needs.")
    used, useful = len({step.writes for step in gpu.steps if step.kind == "work"}), machine.n_pairs
    if used < min(useful, machine.n_chunks):
        why = Finding("limit", f"Only {used} of {count(useful, 'pair')} {'is' if used == 1 else 'are'} used.")
    if len({step.stream for step in gpu.steps}) == 1:
        why = Finding("limit", "All steps are in one stream, where nothing overlaps.")
    taken = f"{case} it takes {seconds(gpu.now_ns * 1e-9)}; {seconds(shortest_ns * 1e-9)} are enough."
    return replace(why, message=f"{taken} {why.message}")


EXERCISE = Exercise(
    name="reuse_a_buffer",
    title="Reuse a buffer in time",
    level="intermediate",
    minutes=20,
    teaches="Streams know nothing of each other: events say when a buffer is full, and when it is free.",
    task=FunctionTask(
        judge=judge, parameters=("streams", "pairs", "x_host", "out_host", "work"), praise=praise
    ),
    lanes=("simulator",),
    pages=("overlap", "streams"),
    tags=("CuPy", "streams", "events", "copies"),
)
