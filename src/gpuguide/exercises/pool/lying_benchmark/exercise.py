"""A timing script that lies in several ways, on virtual machines that know the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean, median
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
from gpuguide.exercises.stand_ins.operations import VirtualOperation
from gpuguide.exercises.stand_ins.timed_regions import (
    Region,
    clock_mistakes,
    compiled_inside,
    regions,
    used_for,
)
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, VirtualGpu

MS = 1_000_000
_FEW = 5


@dataclass(frozen=True)
class Machine:
    """A virtual machine and the operation to be timed on it.

    Attributes
    ----------
    title : str
        In words.
    costs : Costs
        Of launches and the rest.
    work_ns, prepare_ns : int
        Time of the operation, and of restoring its data.
    used_share : float
        Time on data that were used before, over that on fresh ones.
    rhythm : tuple of float
        What others do to each run's time.
    """

    title: str
    costs: Costs
    work_ns: int
    prepare_ns: int
    used_share: float
    rhythm: tuple[float, ...] = (1.0,)


MACHINES = (
    Machine("a machine that is all yours", Costs(), 8 * MS, 2 * MS, 0.3),
    Machine("a machine with slow launches", Costs(launch_ns=90_000, wake_up_ns=30_000), 40 * MS, 6 * MS, 1.7),
    # The first two samples are disturbed, later ones now and then.
    Machine("a machine that others use too", Costs(), 8 * MS, 2 * MS, 0.3, (1, 2.7, 1.9, 1, 1, 1, 1, 1)),
    Machine("a machine whose clock rises at times", Costs(), 12 * MS, 1 * MS, 1.0, (1, 1, 1, 0.9, 1, 1.4)),
    Machine("a machine that compiles quickly", Costs(compile_ns=4 * MS), 5 * MS, 3 * MS, 0.8),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Let it measure on each machine and compare its figure with the work's time."""
    for machine in MACHINES:
        gpu, operation = _start(function, machine)
        case = f"On {machine.title}"
        figure, finding = attempt(function, case, *_as_on_a_gpu(gpu, operation))
        if finding is None and not is_seconds(figure):
            finding = Finding("wrong", f"{case} a number of seconds was expected; got {shown(figure)}.")
        if finding is not None:
            yield finding
            return
        if not is_near(float(figure), operation.work_s):
            yield from _explain(case, float(figure), gpu, operation)
            return


def praise(function: Callable[..., Any]) -> str:
    """Say how near the figures of a right answer are."""
    errors = []
    for machine in MACHINES:
        gpu, operation = _start(function, machine)
        errors.append(abs(float(function(*_as_on_a_gpu(gpu, operation))) / operation.work_s - 1))
    share = f"{100 * max(errors):.1f} %"
    return f"On {len(MACHINES)} virtual machines the figure is within {share} of the work's time."


def _start(function: Callable[..., Any], machine: Machine) -> tuple[VirtualGpu, VirtualOperation]:
    gpu = VirtualGpu(machine.costs, source_of(function))
    times = machine.work_ns, machine.prepare_ns, machine.used_share
    return gpu, VirtualOperation(gpu, *times, rhythm=machine.rhythm)


def _as_on_a_gpu(gpu: VirtualGpu, operation: VirtualOperation) -> tuple[Any, Any]:
    """Return exactly what a reader has in a notebook: nothing that knows the answer."""
    return (
        SimpleNamespace(clock=gpu.clock, synchronize=gpu.synchronize),
        SimpleNamespace(prepare=operation.prepare, run=operation.run),
    )


def _explain(case: str, figure: float, gpu: VirtualGpu, operation: VirtualOperation) -> Iterator[Finding]:
    """Say how far off the figure is, and what the machine saw that explains it."""
    message = f"{case} the figure is {seconds(figure)}; the work takes {seconds(operation.work_s)}."
    yield from explained(message, _causes(figure, gpu, operation))


def _causes(figure: float, gpu: VirtualGpu, operation: VirtualOperation) -> Iterator[Finding]:
    samples = regions(gpu, "run")
    if not samples:
        clock = "gpu.clock() was never read before and after a run."
        yield Finding("wrong", clock if operation.runs else "The operation was never run.")
        return
    used = used_for(figure, samples)
    causes = [*clock_mistakes(used), *_used_data(used, operation)]
    if all(region.holds("run") for region in regions(gpu, "prepare")):  # else it may be subtracted
        causes += _prepared_inside(used)
    # If the samples are good on the whole, mistakes in a few of them do not spoil the figure.
    if not causes or is_near(median(sample.seconds for sample in samples), operation.work_s):
        causes = [_of_samples(figure, samples, operation)]
    yield from causes


def _used_data(samples: list[Region], operation: VirtualOperation) -> Iterator[Finding]:
    timed = {id(event) for sample in samples for event in sample.inside}
    for number, run in enumerate(operation.runs, 1):
        if run.is_used and id(run.event) in timed:
            yield Finding(
                "wrong",
                f"Run {number} found the data as run {number - 1} had left them, so it was other work: call "
                "operation.prepare() before each run.",
                line=run.event.line,
            )
            return


def _prepared_inside(samples: list[Region]) -> Iterator[Finding]:
    for sample in samples:
        for event in sample.inside:
            if event.name == "prepare":
                message = "The clock ran while the data were restored: prepare before it starts, and wait."
                yield Finding("wrong", message, line=event.line)
                return


def _of_samples(figure: float, samples: list[Region], operation: VirtualOperation) -> Finding:
    """Say why samples of a good clock give a wrong figure: too few, or put together wrongly."""
    what, taken = _put_together(figure, samples)
    compiled = next(compiled_inside(taken), None)
    n_disturbed = sum(run.factor != 1 for run in operation.runs)
    unusual = f"{count(n_disturbed, 'run')} took more time or less than usual"
    middle = median(sample.seconds for sample in taken)
    which = f"The {len(taken)}" if len(taken) == len(samples) else f"{len(taken)} of {len(samples)}"
    message = f"{which} samples have a median of {seconds(middle)}"
    returned = f"{message}, and {seconds(figure)} was returned"
    if middle and is_near(figure, 1000 * middle, share=0.1):
        message = f"{returned}, which is 1000 times as much: the time is wanted in seconds."
    elif compiled and what in ("their mean", "the largest"):
        return replace(compiled, message=f"{returned}, {what}. {compiled.message}")
    elif len(taken) < _FEW:
        were = f"was {len(taken)} sample" if len(taken) == 1 else f"were {len(taken)} samples"
        runs = count(len(operation.runs), "run")
        message = f"There {were}, and others disturbed {n_disturbed} of {runs}: take more samples."
    elif what == "their median":
        also = ", and one compiled its kernel" if compiled else ""
        message += f": {unusual}{also}. Take more samples."
    elif n_disturbed:
        message = f"{returned}{what and f', {what}'}: {unusual}, which the median forgives."
    else:
        message = f"{returned}."
    return Finding("wrong", message, line=samples[-1].stop.line)


def _put_together(figure: float, samples: list[Region]) -> tuple[str, list[Region]]:
    """Find what a figure is of which samples, the first of which may have been thrown away."""
    ways: dict[str, Callable[[list[float]], float]] = {
        "their median": median,
        "the smallest": min,
        "their mean": fmean,
        "the largest": max,
    }
    for taken in (samples, samples[1:]):
        for what, way in ways.items():
            if taken and abs(way([sample.seconds for sample in taken]) - figure) < 1e-9:
                return what, taken
    return "", samples


EXERCISE = Exercise(
    name="lying_benchmark",
    title="A benchmark that lies",
    level="intermediate",
    minutes=20,
    teaches="Run once before, restore the data, wait before and after the clock is read, take the median.",
    task=FunctionTask(judge=judge, parameters=("gpu", "operation"), praise=praise),
    lanes=("simulator",),
    pages=("how_to_time", "benchmark_well"),
    tags=("measuring", "synchronisation", "first call"),
)
