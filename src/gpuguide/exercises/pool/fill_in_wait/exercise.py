"""Fill in: a clock that is read when the GPU is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, is_near, is_seconds, seconds, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, VirtualGpu

MS = 1_000_000
#: In words, the machine's costs, and how long the work takes there.
MACHINES = (
    ("a machine whose work is long", Costs(), 40 * MS),
    ("a machine whose launches are slow", Costs(launch_ns=2 * MS), 6 * MS),
    ("a machine that compiles quickly", Costs(compile_ns=MS), 25 * MS),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Let it measure on each machine, and compare its figure with the truth."""
    for title, costs, work_ns in MACHINES:
        gpu = VirtualGpu(costs, source_of(function))
        clocks = SimpleNamespace(clock=gpu.clock, synchronize=gpu.synchronize)
        case = f"On {title}"
        figure, finding = attempt(function, case, clocks, lambda: _launch(gpu, work_ns))  # noqa: B023
        if finding is None and not is_seconds(figure):
            finding = Finding("wrong", f"{case} a number of seconds was expected; got {shown(figure)}.")
        true_s = (costs.launch_ns + work_ns + costs.wake_up_ns) * 1e-9
        if finding is None and not is_near(float(figure), true_s):
            finding = _explained(case, float(figure), true_s, gpu)
        if finding is not None:
            yield finding
            return


def _launch(gpu: VirtualGpu, work_ns: int) -> None:
    gpu.launch("work", busy_ns=work_ns)


def _explained(case: str, figure: float, true_s: float, gpu: VirtualGpu) -> Finding:
    reads = gpu.events("clock")
    if len(reads) < 2:
        return Finding("wrong", f"{case} the clock was read {len(reads)} times; it takes two readings.")
    start, stop = reads[0], reads[-1]
    before = [event for event in gpu.log[: gpu.log.index(start)] if event.kind in ("launch", "synchronize")]
    inside = gpu.log[gpu.log.index(start) : gpu.log.index(stop)]
    works = [event for event in inside if event.kind == "launch"]
    why = "Time one call of work, and nothing else."
    if any(event.compiled for event in works):
        why = "The first call, which compiles, was timed."
    elif before and before[-1].kind == "launch":
        why = "When the clock started, the GPU was still busy with the call before."
    elif works and works[-1].done_ns > stop.begin_ns:
        why = "When the clock stopped, the work was not done."
    message = (
        f"{case} the figure is {seconds(figure)}; a call takes {seconds(true_s)} until it is done. {why}"
    )
    return Finding("wrong", message, line=stop.line)


EXERCISE = Exercise(
    name="fill_in_wait",
    title="Fill in: wait, then read",
    level="beginner",
    minutes=5,
    teaches="A launch returns at once; wait before the clock starts and before it stops.",
    task=FunctionTask(judge=judge, parameters=("gpu", "work")),
    lanes=("simulator",),
    pages=("puzzles",),
    tags=("measuring", "synchronisation", "fill in"),
)
