"""Takes an answer through the lanes that are at hand, one after the other, until one fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from gpuguide.errors import ArgumentError, NoGpuError, unknown
from gpuguide.exercises.compile_lane import judge_compile
from gpuguide.exercises.host_function import judge_function
from gpuguide.exercises.model import LANES, Exercise, FunctionTask
from gpuguide.exercises.reading import Answer, execute, last_function, read_source
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, LaneReport
from gpuguide.exercises.simulate import judge_simulated
from gpuguide.exercises.simulator.findings import joined
from gpuguide.exercises.worker_process import LIMIT_S, WorkerProcess, describe, read_ending
from gpuguide.machine import compilers
from gpuguide.machine.backends import nvml
from gpuguide.machine.device import require_gpu

__all__ = ["choose_lanes", "judge", "judge_in_lanes", "why_no_gpu", "why_undecided"]


def choose_lanes(exercise: Exercise, lanes: Sequence[str] | None) -> tuple[str, ...]:
    """Return the lanes to judge in, in their order.

    >>> from gpuguide.exercises.pool import get
    >>> choose_lanes(get("guard"), ["compile", "simulator"])
    ('simulator', 'compile')
    """
    if lanes is None:
        return tuple(lane for lane in LANES if lane in exercise.lanes)
    asked = [lanes] if isinstance(lanes, str) else list(lanes)
    for lane in asked:
        if lane not in LANES:
            raise unknown("lane", lane, LANES)
        if lane not in exercise.lanes:
            raise ArgumentError(
                f"{exercise.name!r} has no lane {lane!r}; it is judged in {', '.join(exercise.lanes)}."
            )
    if not asked:
        raise ArgumentError(f"Expected at least one lane of {', '.join(exercise.lanes)}; got none.")
    return tuple(lane for lane in LANES if lane in asked)


def judge_in_lanes(
    exercise: Exercise,
    answer: Answer,
    lanes: Sequence[str],
    *,
    judge_here: Callable[[], LaneReport] | None = None,
    missing: Mapping[str, str] = MappingProxyType({}),
    tell: Callable[[str], None] = lambda lane: None,
    start: Callable[[Sequence[str]], WorkerProcess] = WorkerProcess,
) -> tuple[LaneReport, ...]:
    """Judge an answer in one lane after the other, until one fails.

    `judge_here` judges in this process, as the simulator does for a kernel; `missing` tells why lanes are not
    at hand for this answer; `tell` gets each lane before it judges.
    """
    reports: list[LaneReport] = []
    with ExitStack() as workers:
        missing = {**{lane: reason for lane in lanes if (reason := _why_not(lane))}, **missing}
        # A reader's file is executed where it can do no harm to a verdict.
        needs_process = isinstance(exercise.task, FunctionTask) and judge_here is None
        outside = [lane for lane in lanes if lane not in missing and (lane != "simulator" or needs_process)]
        # Started before the simulator judges, so that its imports run meanwhile.
        worker = workers.enter_context(start(outside)) if outside else None
        for lane in lanes:
            tell(lane)
            if lane in missing:
                reports.append(LaneReport(lane, NOT_AT_HAND, missing[lane]))
            elif worker is not None and lane in outside:
                ended = worker.judge(lane, describe(exercise, answer), LIMIT_S[lane])
                if refused := ended.last("refused"):
                    raise ArgumentError(refused)
                reports.append(read_ending(lane, ended))
            else:
                reports.append(judge_here() if judge_here else judge_simulated(exercise, answer))
            if reports[-1].state == FAILED:
                break
    return tuple(reports)


def why_undecided(exercise: Exercise) -> str:
    """Say why the lane that decides an exercise is not at hand; empty if it is, or if any lane will do."""
    lane = exercise.decided_in
    if lane == "compile":
        return _why_not(lane) or compilers.why_not(compilers.capability())
    return _why_not(lane) if lane else ""


def _why_not(lane: str) -> str:
    """Say why a lane is not at hand; empty if only its worker can say."""
    if lane == "compile" and sys.platform == "darwin":
        return "NVIDIA's compiler does not exist for macOS."
    # Nothing compiles without this part, and to look for it is much faster than to import Numba.
    if lane == "compile" and compilers.missing_parts(("nvrtc",)):
        missing = compilers.missing_parts()
        which = f"{joined(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        return f"NVIDIA's compiler is not installed ({which}). 'gpuguide doctor' says what to install."
    return why_no_gpu() if lane == "gpu" else ""


def why_no_gpu() -> str:
    """Say in words why there is no GPU to work with; empty if there is one."""
    try:
        require_gpu()
    except NoGpuError as error:
        # Without a GPU, it does not help to explain how to install CuPy.
        return str(error) if nvml() else "This computer has no NVIDIA GPU, or no driver for it."
    return ""


def judge(
    exercise: Exercise,
    source: str,
    *,
    name: str = "",
    constants: Mapping[str, object] = MappingProxyType({}),
    lane: str = "simulator",
) -> LaneReport:
    """Judge source text in one lane; nothing is shown and nothing remembered.

    >>> from gpuguide.exercises.pool import get
    >>> judge(get("guard"), get("guard").solution).passed
    True
    """
    if lane not in LANES:
        raise unknown("lane", lane, LANES)
    if isinstance(exercise.task, FunctionTask):
        chosen, path = name or last_function(source), Path(f"{exercise.name}.py")
        if lane == "gpu":
            return judge_in_lanes(exercise, Answer(source, chosen, constants, path.name), (lane,))[0]
        return judge_function(exercise, execute(source, chosen, path, constants))
    found = read_source(source, name)
    answer = Answer(found.source, found.name, {**found.constants, **constants}, found.place)
    if lane == "compile":
        return judge_compile(exercise, answer)
    return judge_in_lanes(exercise, answer, (lane,))[0]
