"""Shared by the judges of functions: calling them safely, and writing times, counts and lines.

A `case` says in words what the reader's function was called with; messages begin with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from reprlib import Repr
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.machine import UnsupportedError
from gpuguide.exercises.stand_ins.lines import line_of_error, source_of
from gpuguide.exercises.stand_ins.time_limit import TooLongError, give_time
from gpuguide.results.units import format_quantity

if TYPE_CHECKING:
    from gpuguide.exercises.stand_ins.virtual_streams import Step, StreamingGpu

__all__ = [
    "attempt",
    "count",
    "delay_found",
    "equals",
    "explained",
    "is_near",
    "is_seconds",
    "known_lines",
    "lines_text",
    "plain",
    "race_found",
    "seconds",
    "shown",
    "unfinished_found",
    "waits_found",
]

_MIXED = (
    *("Unsupported type <class 'numpy.ndarray'>", "Implicit conversion to a NumPy array"),
    *("Only cupy arrays can be concatenated", "non-scalar numpy.ndarray cannot be used"),
    *("Only numpy.ndarray can be", "'numpy.ndarray' object has no attribute 'get'"),
)


def attempt(function: Callable[..., Any], case: str, *arguments: Any) -> tuple[Any, Finding | None]:
    """Call the reader's function; an exception becomes a finding.

    >>> attempt(lambda x: 2 * x, "With x = 4", 4)
    (8, None)
    >>> print(attempt(lambda x: 1 / x, "With x = 0", 0)[1])
    With x = 0 the function raised ZeroDivisionError: division by zero.
    """
    try:
        give_time()
        return plain(function(*arguments)), None
    except TooLongError as error:
        message = f"{case} the function had not ended after {error.limit}."
        return None, Finding("endless", message, line=line_of_error(error, source_of(function)))
    except UnsupportedError as error:
        line = line_of_error(error, source_of(function))
        message = f"Line {line} uses {error}, which the stand-ins cannot run; a GPU can judge it."
        return None, Finding("unsupported", message, line=line)
    except (
        Exception,
        SystemExit,
    ) as error:  # whatever a reader's function raises is a finding, never the session's end
        text = str(error).strip().rstrip(".")
        message = f"{case} the function raised {type(error).__name__}{f': {text}' if text else ''}."
        if any(mixed in str(error) for mixed in _MIXED):
            message += (
                " An array on the GPU met a NumPy array: bring both to one side, with cp.asarray or "
                "cp.asnumpy, or make the new one on the side of the other."
            )
        if isinstance(error, NameError):
            message += " Is an import missing, or the name misspelt?"
        # In words of its own, a stand-in has said more.
        if isinstance(error, AttributeError) and "has no attribute" in text and _is_stand_in(error.obj):
            if isinstance(error.obj, FunctionType | MethodType):
                message += " It is called with parentheses: are they missing?"
            message += (
                " It is a stand-in, which has only what the exercises need: what it stands for may have more."
            )
        line = line_of_error(error, source_of(function))
        return None, Finding("memory" if isinstance(error, MemoryError) else "exception", message, line=line)


def _is_stand_in(thing: object) -> bool:
    """Say whether something is of a stand-in: a function or a method, or an object of its classes."""
    makers = [thing] if isinstance(thing, FunctionType | MethodType) else type(thing).__mro__
    return not isinstance(thing, np.ndarray) and any(
        each.__module__.startswith("gpuguide.exercises.") for each in makers
    )


def explained(message: str, causes: Iterable[Finding]) -> Iterator[Finding]:
    """Say that something is wrong, and why: the first cause goes into the same finding, with its line.

    >>> causes = [Finding("wrong", "It was not asked to wait.", line=3), Finding("wrong", "It was cold.")]
    >>> [(finding.message, finding.line) for finding in explained("The figure is off.", causes)]
    [('The figure is off. It was not asked to wait.', 3), ('It was cold.', None)]
    """
    found = list(causes)
    if not found:
        yield Finding("wrong", message)
        return
    yield Finding("wrong", f"{message} {found[0].message}", line=found[0].line)
    yield from found[1:]


_PLAIN = (type(None), bool, int, float, complex, str, bytes, tuple, list)


def plain(value: object) -> Any:
    """Return a value without what a class of the reader's own makes of it, which could equal everything.

    >>> class Seven(int):
    ...     __eq__ = lambda self, other: True
    >>> Seven(7) == 8, plain(Seven(7)) == 8, plain((Seven(7), "a"))
    (True, False, (7, 'a'))
    """
    if isinstance(value, np.generic):
        return value if type(value).__module__ == "numpy" else np.asarray(value)[()]
    if isinstance(value, tuple):
        return tuple(plain(each) for each in tuple.__iter__(value))
    if isinstance(value, list):
        return [plain(each) for each in list.__iter__(value)]
    readers = {str: str.__str__, float: float.__float__} | (
        {} if isinstance(value, bool) else {int: int.__int__}
    )
    read: Any = next((read for kind, read in readers.items() if isinstance(value, kind)), None)
    return value if read is None else read(value)


def equals(result: object, expected: object) -> bool:
    """Return whether a result equals what was expected; one that cannot be compared does not.

    >>> import numpy as np
    >>> equals((1, 2), (1, 2)), equals(np.arange(3), (0, 1, 2))
    (True, False)
    """
    return type(result) in _PLAIN and bool(result == expected)


def shown(value: object) -> str:
    """Write a value for a message, long ones shortened.

    >>> shown((1, 2)), shown(list(range(100)))
    ('(1, 2)', '[0, 1, 2, 3, 4, 5, ...]')
    """
    writer = Repr()
    writer.maxother = writer.maxstring = 60
    return " ".join(writer.repr(value).split())


def is_seconds(value: object) -> bool:
    """Return whether a value is a number of seconds: real, finite and no bool.

    >>> is_seconds(0.5), is_seconds(math.nan), is_seconds(None), is_seconds(True)
    (True, False, False, False)
    """
    is_real = type(value) in (int, float) or (isinstance(value, np.number) and not np.iscomplexobj(value))
    return is_real and math.isfinite(value)  # type: ignore[arg-type]


def is_near(figure_s: float, true_s: float, share: float = 0.01) -> bool:
    """Return whether a figure is the true one within a share of it.

    >>> is_near(1.009, 1.0), is_near(1.02, 1.0)
    (True, False)
    """
    return abs(figure_s - true_s) <= share * true_s


def seconds(value_s: float) -> str:
    """Write a time with three digits.

    >>> seconds(0.0080134), seconds(41e-6), seconds(0)
    ('8.01 ms', '41.0 µs', '0 s')
    """
    slack = abs(value_s) * 1e-3
    return format_quantity(value_s, "s", value_s - slack, value_s + slack)


def known_lines(lines: Iterable[int | None]) -> tuple[int, ...]:
    """Return line numbers, each once and in ascending order.

    >>> known_lines([7, 3, None, 7])
    (3, 7)
    """
    return tuple(sorted({line for line in lines if line is not None}))


def lines_text(lines: Iterable[int | None]) -> str:
    """Write line numbers, each once and in ascending order; nothing if none is known.

    >>> lines_text([7, 3, 7, 5]), lines_text([4]), lines_text([None])
    (' (lines 3, 5 and 7)', ' (line 4)', '')
    """
    known = known_lines(lines)
    if not known:
        return ""
    if len(known) == 1:
        return f" (line {known[0]})"
    return f" (lines {', '.join(map(str, known[:-1]))} and {known[-1]})"


def count(n: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun.

    >>> count(1, "launch", "launches"), count(3, "launch", "launches"), count(0, "line")
    ('1 launch', '3 launches', '0 lines')
    """
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def race_found(case: str, gpu: StreamingGpu, they: str = "They") -> Finding | None:
    """Find the first two steps that no event keeps in order; `they` begins the sentence on why."""
    if not gpu.races:
        return None
    # Of several, the waits of one chunk for itself come before those for an earlier one.
    earlier, later = gpu.races[0].earlier, gpu.races[0].later
    lines = (earlier.line, later.line)
    why = _in_no_stream(earlier, later) or (
        f"{they} are in different streams, and no event recorded after the one is waited for before the "
        "other."
    )
    return Finding(
        "race",
        f"{case} {later.what} may begin before {earlier.what} has ended{lines_text(lines)}. {why}",
        line=later.line,
        lines=known_lines(lines),
    )


def _in_line(step: Step) -> str:
    """Begin a sentence on a step."""
    return "There" if step.line is None else f"In line {step.line},"


def _in_no_stream(*steps: Step) -> str:
    """Say which of some steps no stream was named for; empty if there is none."""
    for step in steps:
        if step.stream == 0:
            how = "by stream=" if step.kind.startswith("copy") else "by a with statement around it"
            return f"{_in_line(step)} {step.what} is in none of the given streams: put it into one, {how}."
    return ""


def unfinished_found(case: str, steps: list[Step]) -> Finding | None:
    """Find what may go on after the function has returned."""
    if not steps:
        return None
    last = steps[-1]
    message = f"{case} the function returned before it was certain that {last.what} had ended."
    return Finding("unfinished", f"{message} {_in_no_stream(last)}".rstrip(), line=last.line)


def delay_found(gpu: StreamingGpu) -> Finding | None:
    """Find the step that lost most time by waiting for one that it has no use for."""
    delay = gpu.delay
    if delay is None:
        return None
    step, other = delay.step, delay.other
    why = "both are in one stream"
    if delay.line is not None:
        why = f"line {delay.line} lets its stream wait for that"
    message = f"{_in_line(step)} {step.what} begins only when {other.what} has ended, which it has no use for"
    lines = known_lines((step.line, other.line, delay.line))
    return Finding("limit", f"{message}: {why}.", line=delay.line or step.line, lines=lines)


def waits_found(case: str, gpu: StreamingGpu) -> Finding | None:
    """Find where the host waited while it still had something to ask for."""
    if not gpu.waits:
        return None
    lines = known_lines(gpu.waits)
    times = count(len(gpu.waits), "time")
    message = f"{case} Python waits {times} before it asks for the rest{lines_text(lines)}."
    return Finding("limit", message, line=lines[0] if lines else None, lines=lines)
