"""Judges a host function: calls it with stand-ins, or on the GPU, and reports what it did."""

from __future__ import annotations

import ast
import dis
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice, pairwise
from textwrap import dedent
from types import CodeType
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.cupy_imports import standing_in
from gpuguide.exercises.stand_ins.host_memory import never_by_chance
from gpuguide.exercises.stand_ins.judging import known_lines, lines_text
from gpuguide.exercises.stand_ins.lines import line_now, line_of_error, source_of
from gpuguide.exercises.stand_ins.time_limit import TooLongError, time_limit
from gpuguide.machine.memory import is_out_of_memory

__all__ = ["judge_function"]

LIMIT_S = float(os.environ.get("GPUGUIDE_TIME_LIMIT", "20"))
"""Seconds that a function may take for all cases together."""
CALL_LIMIT_S = min(3.0, LIMIT_S)
"""Seconds of the processor's time for one call with stand-ins, which takes milliseconds if it is right."""

_MOST_FINDINGS = 5


def judge_function(exercise: Exercise, function: Callable[..., Any], lane: str = "simulator") -> LaneReport:
    """Call a reader's function as its exercise prescribes."""
    task = exercise.task
    assert isinstance(task, FunctionTask)
    _check_signature(exercise.name, task.parameters, function)
    judge = task.judge if lane == "simulator" else task.on_gpu
    assert judge is not None
    if finding := _reaches_behind(function):
        return LaneReport(lane, FAILED, findings=(finding,))
    try:
        imports = standing_in(function) if lane == "simulator" else nullcontext()
        limits = time_limit(LIMIT_S, CALL_LIMIT_S if lane == "simulator" else 0)
        with warnings.catch_warnings(), imports, never_by_chance(), limits:
            warnings.showwarning = _warned(function)
            findings = tuple(islice(judge(function), _MOST_FINDINGS))
            praise = task.praise(function) if task.praise and not findings and lane == "simulator" else ""
    except (Exception, SystemExit, TooLongError) as error:  # the reader's own
        if lane == "gpu" and is_out_of_memory(error):
            return LaneReport(lane, NOT_AT_HAND, "The GPU has too little free memory at the moment.")
        findings = (_raised(error, function),)
    if findings and findings[0].kind == "unsupported":
        return LaneReport(lane, NOT_AT_HAND, findings[0].message)
    if findings:
        return LaneReport(lane, FAILED, findings=_with_cause_first(exercise, function, findings))
    return LaneReport(lane, PASSED, notes=(praise,) if praise else ())


def _with_cause_first(
    exercise: Exercise, function: Callable[..., Any], findings: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Begin with what explains the rest: blanks that are left, a changed input, a return that is missing."""
    first, code = findings[0], _code_of(function)
    if (blanks := _blanks(_text_of(function))) and _blanks(exercise.stub):
        are = "A blank is" if len(blanks) == 1 else "Blanks are"
        message = f"{are} left{lines_text(blanks)}: put code in the place of `...`."
        return (replace(first, message=message, line=blanks[0], lines=known_lines(blanks)),)
    if first.kind != "wrong":
        return findings
    if changed := [each for each in findings if each.kind == "input_changed"]:
        return *changed, *(each for each in findings if each not in changed)
    if code is not None and _returns_nothing(code) and _is_to_return(exercise):
        message = f"{first.message} The function returns nothing: is a return missing?"
        return replace(first, message=message), *findings[1:]
    return findings


def _is_to_return(exercise: Exercise) -> bool:
    """Say whether the solution returns anything."""
    codes = compile(exercise.solution, "", "exec").co_consts
    solution = [c for c in codes if isinstance(c, CodeType) and c.co_name == exercise.function_name]
    return not all(map(_returns_nothing, solution))


def _text_of(function: Callable[..., Any]) -> str:
    """Return a function's text, with its lines where they are in its file; empty if nobody knows it."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
    except (OSError, TypeError):
        return ""
    return "\n" * (first - 1) + dedent("".join(lines))


def _blanks(text: str) -> list[int]:
    """Return the lines of ``...`` that stand for code: alone, after an equals sign, or returned."""
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError:
        return []
    holders = (node for node in nodes if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return))
    return sorted(
        node.lineno for node in holders if isinstance(node.value, ast.Constant) and node.value.value is ...
    )


def _returns_nothing(code: CodeType) -> bool:
    steps = _steps(code)
    returned = [step.argval for step in steps if step.opname == "RETURN_CONST"]
    for before, step in pairwise(steps):
        if step.opname == "RETURN_VALUE":
            returned.append(before.argval if before.opname == "LOAD_CONST" else ...)
    return not code.co_flags & inspect.CO_GENERATOR and all(each is None for each in returned)


def _check_signature(exercise: str, expected: tuple[str, ...], function: Callable[..., Any]) -> None:
    if not expected:
        return
    try:
        inspect.signature(function).bind(*expected)
    except (TypeError, ValueError):
        name = getattr(function, "__name__", "the function")
        raise ArgumentError(
            f"{exercise} asks for a function with the parameters ({', '.join(expected)}); "
            f"{name}{_signature(function)} cannot be called so."
        ) from None


#: Names that are not hidden, in spite of their underscore: those of named tuples, and ``os._exit``.
_COMMON = frozenset({"_asdict", "_exit", "_fields", "_make", "_replace"})
#: What a function would need only to look at, or change, what judges it.
_BEHIND = frozenset(
    {
        *("__class__", "__closure__", "__code__", "__dict__", "__func__", "__getattribute__", "__globals__"),
        *("__mro__", "__self__", "__setattr__", "__subclasses__", "__wrapped__"),
        *("f_back", "f_globals", "f_locals", "tb_frame"),
        *("bytes_allocated", "n_allocations", "note_copy_to_device", "note_launch", "run_ufunc", "unwrap"),
        *("holds_unset", "rounded", "unset_read_at", "widened_at"),
    }
)


def _reaches_behind(function: Callable[..., Any]) -> Finding | None:
    """Find the first line that reaches for what judges the function: no answer needs it."""
    codes = {code: _steps(code) for code in _codes_of(function)}
    # What a class of the reader's hides is its own.
    ours = {step.argval for steps in codes.values() for step in steps if step.opname == "STORE_NAME"}
    for code in filter(_is_method, codes):
        ours.add(code.co_name)
        for before, step in pairwise(codes[code]):
            # Newer versions of Python load two variables in one step.
            loaded = before.argval[-1:] if isinstance(before.argval, tuple) else (before.argval,)
            if step.opname == "STORE_ATTR" and loaded == code.co_varnames[:1]:
                ours.add(step.argval)
    lines = [each for code, steps in codes.items() for each in _behind(code, steps, ours)]
    if not lines:
        return None
    line, what = min(lines)
    message = f"Line {line} {what}, which is hidden in a library or in what judges the answer: do without it."
    return Finding("exception", message, line=line)


def _behind(code: CodeType, steps: list[Any], ours: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a function that use hidden names, with what they do."""
    asks_by_name = {"getattr", "setattr", "vars"} & {*code.co_names}
    for before, step in pairwise(steps):
        name, line = step.argval, step.positions.lineno or 0
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"):
            is_hidden = name.startswith("_") and not name.startswith("__")
            if name in _BEHIND - ours or (is_hidden and name not in ours | _COMMON):
                yield line, f"uses {name}"
            elif before.opname == "CALL" and not name.startswith("__") and _takes_type(steps, before):
                yield line, f"takes {name} from the type of an object"
        elif asks_by_name and step.opname == "LOAD_CONST" and isinstance(name, str):
            if re.match("_[a-z_]", name):
                yield line, f"names {name}"


def _is_method(code: CodeType) -> bool:
    around = code.co_qualname.rpartition(".")[0]
    return around != "" and not around.endswith("<locals>")


def _code_of(function: Callable[..., Any]) -> CodeType | None:
    code: CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    return code


def _codes_of(function: Callable[..., Any]) -> Iterator[CodeType]:
    """Yield the code of a function, and of what it names in its file."""
    return _codes(_code_of(function), getattr(inspect.unwrap(function), "__globals__", {}), set())


def _codes(code: CodeType | None, known: Mapping[str, Any], seen: set[CodeType]) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions and classes of its file that it names."""
    if code is None or code in seen:
        return
    seen.add(code)
    yield code
    named = [known[name] for name in code.co_names if name in known]
    members = [each for value in named if isinstance(value, type) for each in vars(value).values()]
    others = [getattr(each, "__code__", None) for each in (*named, *members)]
    for each in (*code.co_consts, *others):
        if isinstance(each, CodeType) and each.co_filename == code.co_filename:
            yield from _codes(each, known, seen)


def _steps(code: CodeType) -> list[Any]:
    return [
        step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "PRECALL", "PUSH_NULL")
    ]


def _takes_type(steps: list[Any], call: Any) -> bool:
    """Say whether a call is one of ``type`` with one argument."""
    at = steps.index(call)
    return call.arg == 1 and at > 1 and steps[at - 2].argval == "type"


def _signature(function: Callable[..., Any]) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "()"


def _warned(function: Callable[..., Any]) -> Callable[..., None]:
    """Return what prints a warning with the reader's line, in place of one inside of NumPy or a stand-in."""
    source = source_of(function)

    def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
        line = line_now(source)
        if line is not None:  # else it is of the judge's own arithmetic
            print(f"Line {line}: {category.__name__}: {message}", file=sys.stderr)

    return show


def _raised(error: BaseException, function: Callable[..., Any]) -> Finding:
    """Say what the reader's function raised, with the last line of its file that the error passed."""
    line = line_of_error(error, source_of(function))
    where = f" in line {line}" if line is not None else ""
    name = getattr(function, "__name__", "The function")
    if isinstance(error, TooLongError):
        return Finding("endless", f"{name} had not ended after {error.limit}{where}.", line=line)
    text = f"{type(error).__name__}: {error}".rstrip(".")
    return Finding("exception", f"{name} raised {text}{where}.", line=line)
