"""Fill in: a clock that is read when the GPU is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import (
    attempt,
    count,
    explained,
    is_near,
    is_seconds,
    seconds,
    shown,
)
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.timed_regions import Region, clock_mistakes, regions, used_for
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, VirtualGpu

US = 1_000
#: In words, the machine's costs, and how long the work takes there. No call takes whole milliseconds.
MACHINES = (
    ("a machine whose work is long", Costs(), 40_300 * US),
    ("a machine whose launches are slow", Costs(launch_ns=600 * US), 1_770 * US),
    ("a machine that compiles quickly", Costs(compile_ns=1000 * US), 25_400 * US),
)
#: What the clock shows at first: after eleven days single precision does not tell milliseconds apart.
SINCE_NS = 10**15


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Let it measure on each machine, and compare its figure with the truth."""
    first = None
    for title, costs, work_ns in MACHINES:
        gpu = VirtualGpu(costs, source_of(function))
        gpu.now_ns = gpu.free_at_ns = SINCE_NS
        clocks = SimpleNamespace(clock=gpu.clock, synchronize=gpu.synchronize)
        case = f"On {title}"
        figure, finding = attempt(function, case, clocks, lambda: _launch(gpu, work_ns))  # noqa: B023
        if finding is None and not is_seconds(figure):
            finding = Finding("wrong", f"{case} a number of seconds was expected; got {shown(figure)}.")
        if finding is not None:
            yield finding
            return
        true_s = (costs.launch_ns + work_ns + costs.wake_up_ns) * 1e-9
        if not is_near(float(figure), true_s):
            message = (
                f"{case} the figure is {seconds(figure)}; a call takes {seconds(true_s)} until it is done."
            )
            if figure == first:
                message += " That is the figure of the first machine again."
            yield from explained(message, _causes(float(figure), true_s, gpu))
            return
        first = first or figure


def _launch(gpu: VirtualGpu, work_ns: int) -> None:
    gpu.launch("work", busy_ns=work_ns)


def _causes(figure: float, true_s: float, gpu: VirtualGpu) -> Iterator[Finding]:
    """Say what is wrong with the readings of the clock, or with what was made of them."""
    reads = gpu.events("clock")
    if len(reads) < 2:
        message = (
            f"gpu.clock() was called {count(len(reads), 'time')}; it takes two readings, one before the call "
            "of work and one when that is done."
        )
        yield Finding("wrong", message, line=reads[0].line if reads else None)
        return
    found = used_for(figure, regions(gpu, "work"))
    if not found:
        message = "Between the readings of the clock work was not called."
        yield Finding("wrong", message, line=reads[0].line)
        return
    mistakes = list(clock_mistakes(found))
    yield from mistakes
    if not mistakes:
        yield Finding("wrong", _about_the_figure(figure, true_s, found), line=found[0].stop.line)


def _about_the_figure(figure: float, true_s: float, found: list[Region]) -> str:
    """Say what is wrong with a figure whose readings were taken at the right time."""
    if is_near(figure, 1000 * true_s):
        return "That is 1000 times as much: seconds are asked for."
    works = [event for event in found[0].inside if event.kind == "launch"]
    if len(works) > 1 and is_near(figure, found[0].seconds):
        return f"Between the two readings work was called {len(works)} times."
    if any(later.begin_ns < earlier.done_ns for earlier, later in pairwise(works)):
        return (
            f"Between the two readings work was called {len(works)} times without a wait in between, so that "
            "the GPU was still busy with one call when the next was made."
        )
    if is_near(found[0].seconds, true_s):
        return f"The readings around one call are {seconds(found[0].seconds)} apart: return that as it is."
    return "Time one call of work, and nothing else."


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
