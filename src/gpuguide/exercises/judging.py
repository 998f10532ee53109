"""Assertions for the judges of host exercises: on what came back, and on the log of a virtual GPU."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from reprlib import Repr
from typing import Any, NoReturn

from gpuguide.exercises.report import Finding
from gpuguide.exercises.virtual_gpu import Step, VirtualGpu
from gpuguide.tracer.findings import joined

ARRAYS: tuple[type, ...] = ()
"""Of the host and of the GPU; none in a browser, where NumPy is missing, and no exercise takes arrays."""
try:
    import numpy as np

    from gpuguide.exercises.stand_in_cupy import Array
except ModuleNotFoundError:
    pass
else:
    ARRAYS = (np.ndarray, Array)

__all__ = [
    "ARRAYS",
    "RefusedError",
    "Sample",
    "at_most",
    "clock_mistake",
    "data_of",
    "difference",
    "in_lines",
    "in_order",
    "in_time",
    "is_number",
    "near",
    "on_one_side",
    "refuse",
    "require",
    "samples_of",
    "seconds",
    "shown",
    "times",
]


#: What is shorter than this is no time at all: sums of times are not exact.
_INSTANT_S = 1e-9


class RefusedError(Exception):
    """An assertion that does not hold."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


def refuse(kind: str, message: str, steps: Iterable[Step] = ()) -> NoReturn:
    """End the judging with a sentence, and with the lines of some steps."""
    lines = tuple(sorted({step.line for step in steps if step.line}))
    raise RefusedError(Finding(kind, message, lines))


def require(condition: bool, message: str, steps: Iterable[Step] = (), kind: str = "wrong") -> None:
    """Go on if a condition holds."""
    if not condition:
        refuse(kind, message, steps)


def at_most(most: int, steps: Sequence[Step], what: str, why: str = "") -> None:
    """Limit how often something happens: ``at_most(1, gpu.steps("launch"), "a kernel was launched")``."""
    if len(steps) > most:
        enough = (
            "none is needed" if most == 0 else f"{times(most)} is enough" if most == 1 else f"{most} will do"
        )
        message = f"{what} {times(len(steps))}{in_lines(steps)}; {enough}. {why}".rstrip()
        refuse("limit", message, steps)


def in_order(gpu: VirtualGpu) -> None:
    """Require an order of all steps on the same memory, and that the function waits for their end."""
    for earlier, later in gpu.races:
        lines = in_lines((earlier, later))
        message = f"Nothing makes {later.name} wait for {earlier.name}{lines}: "
        stray = next((step for step in (earlier, later) if step.stream == gpu.default.ptr), None)
        if stray:
            message += f"{stray.name} is in none of the given streams."
        else:
            message += "they are in different streams, and neither waits for an event of the other."
        refuse("race", message, (earlier, later))
    for step in gpu.unfinished[-1:]:
        message = f"The function returned before it was certain that {step.name} had ended."
        if step.stream == gpu.default.ptr:
            message += f" {step.name} is in none of the given streams."
        refuse("unfinished", message, (step,))


def in_time(gpu: VirtualGpu, best_s: float) -> None:
    """Require that Python asks for everything before it waits, and that it takes no longer than needed."""
    kinds = ("launch", "to_device", "to_host")
    asked = gpu.steps(*kinds)
    if not asked:
        return
    before = gpu.log[: gpu.log.index(asked[-1])]
    waits = [step for step in before if step.kind == "wait" or step.blocking]
    if waits:
        lines = in_lines(waits)
        refuse("limit", f"Python waits {times(len(waits))} before it has asked for everything{lines}.", waits)
    taken_s = gpu.now_s - asked[0].begin_s
    if taken_s <= 1.05 * best_s:
        return
    message = f"It takes {seconds(taken_s)}; {seconds(best_s)} are enough. "
    if len({step.stream for step in asked}) == 1:
        refuse("limit", f"{message}All steps are in one stream, where nothing overlaps.", asked)
    for later in asked:
        for earlier in asked[: asked.index(later)]:
            if _waits_in_vain(later, earlier):
                lines = in_lines((earlier, later))
                message += f"Here {later.name} waits for {earlier.name}, which it does not need{lines}."
                refuse("limit", message, (earlier, later))
    refuse("limit", f"{message}A stream waits for more than it needs.")


def _waits_in_vain(later: Step, earlier: Step) -> bool:
    """Say whether a step begins when one of another stream has ended, on whose memory it does not work."""
    return (
        later.stream != earlier.stream
        and later.follows(earlier)
        and not later.disturbs(earlier)
        and later.started_s - earlier.done_s < _INSTANT_S
    )


@dataclass(frozen=True)
class Sample:
    """What happened between two readings of the clock, and before them."""

    start: Step
    stop: Step
    steps: list[Step]
    before: list[Step]

    @property
    def seconds(self) -> float:
        """The time between the two readings."""
        return self.stop.end_s - self.start.end_s


def samples_of(gpu: VirtualGpu, name: str) -> list[Sample]:
    """Return what happened between readings of the clock, where a step of some name is in between."""
    log, clock = gpu.log, [place for place, step in enumerate(gpu.log) if step.kind == "clock"]
    samples = [Sample(log[a], log[b], log[a + 1 : b], log[:a]) for a, b in pairwise(clock)]
    return [sample for sample in samples if any(step.name == name for step in sample.steps)]


def clock_mistake(gpu: VirtualGpu, name: str, begin: str = "") -> None:
    """Refuse the readings of the clock around a step of some name, if they are at fault.

    `begin` is a sentence that comes first.
    """
    samples = samples_of(gpu, name)
    never = f"{begin} The clock was never read just before and just after {name}."
    require(bool(samples), never.lstrip())
    # The last sample counts most: a first one that compiles is often thrown away.
    for sample in (samples[-1], *samples):
        for step in sample.steps:
            if step.compiled:
                message = f"{begin} The first call of {step.name} compiled it while the clock ran."
                refuse("wrong", message.lstrip(), (step,))
        for step in sample.before:
            if step.done_s > sample.start.end_s:
                late = seconds(step.done_s - sample.start.end_s)
                message = f"{begin} The clock started while the GPU was busy: {step.name} had {late} left."
                refuse("wrong", message.lstrip(), (sample.start,))
        for step in sample.steps:
            if step.done_s > sample.stop.begin_s:
                late = seconds(step.done_s - sample.stop.begin_s)
                message = (
                    f"{begin} The clock stopped while the GPU was still at work: {step.name} had {late} left."
                )
                refuse("wrong", message.lstrip(), (sample.stop,))


def on_one_side(gpu: VirtualGpu) -> None:
    """Require that nothing crosses between the host and the GPU."""
    steps = gpu.steps("to_device", "to_host")
    at_most(0, steps, "Data crossed between the host and the GPU")


def difference(result: Any, expected: Any, tolerance: float = 0.0) -> str:
    """Say how a result differs from the expected one; nothing if it does not."""
    if result is None and expected is not None:
        return "The function returned nothing: is a return missing?"
    if not isinstance(expected, ARRAYS):
        return _different_value(result, expected, tolerance)
    on_gpu = isinstance(expected, Array)
    if isinstance(result, Array) != on_gpu or not isinstance(result, ARRAYS):
        where = "an array on the GPU" if on_gpu else "an array of NumPy"
        got = "it was left on the GPU" if isinstance(result, Array) else f"got {shown(result)}"
        return f"The result must be {where}; {got}."
    return _different_array(data_of(result), data_of(expected), tolerance)


def _different_value(result: Any, expected: Any, tolerance: float) -> str:
    try:
        if tolerance:
            same = bool(abs(result - expected) <= tolerance)
        else:
            same = bool((tuple(result) if isinstance(result, list) else result) == expected)
    except (TypeError, ValueError):
        same = False
    return "" if same else f"Expected {shown(expected)}; got {shown(result)}."


def _different_array(result: Any, expected: Any, tolerance: float) -> str:
    if result.shape != expected.shape:
        return f"The result must have the shape {expected.shape}; it has {result.shape}."
    if result.dtype != expected.dtype:
        return f"The result must be {expected.dtype}; it is {result.dtype}."
    if expected.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # infinity less infinity
            near = np.abs(result.astype(float) - expected) <= tolerance
        # Written so that NaN is near to nothing but NaN.
        bad = ~(near | (np.isnan(result) & np.isnan(expected)) | (result == expected))
    else:
        bad = result != expected
    if not bad.any():
        return ""
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    place = f"Element {index[0] if len(index) == 1 else index} of the result" if index else "The result"
    return f"{place} must be {expected[index]!s}; got {result[index]!s}."


def shown(value: object) -> str:
    """Write a value, long ones shortened."""
    writer = Repr()
    writer.maxother = writer.maxstring = 60
    return " ".join(writer.repr(value).split())


def data_of(value: Any) -> np.ndarray[Any, Any]:
    """Return an array of the host or of the GPU as one of the host, without a copy in the log."""
    data: np.ndarray[Any, Any] = value._data if isinstance(value, Array) else value
    return data


def is_number(value: object) -> bool:
    """Say whether a value is a real, finite number."""
    try:
        return not isinstance(value, bool) and math.isfinite(value)  # type: ignore[arg-type]
    except TypeError:
        return False


def near(value: Any, true: float, share: float = 0.01) -> bool:
    """Say whether a number is a true one within a share of it."""
    return is_number(value) and abs(float(value) - true) <= share * abs(true)


def seconds(value_s: float) -> str:
    """Write a time with three digits.

    >>> seconds(0.0080134), seconds(41e-6)
    ('8.01 ms', '41.0 µs')
    """
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
    unit, size = next((each for each in units.items() if abs(value_s) >= each[1]), ("µs", 1e-6))
    digits = max(0, 2 - int(math.log10(abs(value_s) / size))) if value_s else 0
    return f"{value_s / size:.{digits}f} {unit}"


def times(n: int) -> str:
    """Write how often."""
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def in_lines(steps: Iterable[Step]) -> str:
    """Write the lines of steps, if any is known, each once."""
    lines = sorted({step.line for step in steps if step.line})
    if not lines:
        return ""
    return f" (line {lines[0]})" if len(lines) == 1 else f" (lines {joined([*map(str, lines)])})"
