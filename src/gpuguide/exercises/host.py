"""Judges a function of the host: calls it with each case, compares what came back, and asks the exercise."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from gpuguide.exercises.answer import Answer, EndlessError, line_of, load_function, raised
from gpuguide.exercises.judging import ARRAYS, RefusedError, data_of, difference, shown
from gpuguide.exercises.model import ANYTHING, Case, HostExercise
from gpuguide.exercises.report import Finding, Report
from gpuguide.tracer.findings import count, joined

__all__ = ["judge_host"]

_MOST_PRINTED = 20


class _LatestCupy:
    """What a reader imports as CuPy: the stand-in of the case that is being judged."""

    def __getattr__(self, name: str) -> Any:
        from gpuguide.exercises.stand_in_cupy import Cupy  # it needs NumPy

        return getattr(Cupy.latest or Cupy(), name)


def judge_host(exercise: HostExercise, answer: Answer) -> Report:
    """Call an answer with each case until one goes wrong."""
    if blanks := _blanks(answer, exercise.start):
        are = "A blank is" if len(blanks) == 1 else "Blanks are"
        lines = joined([*map(str, blanks)])
        message = f"{are} left in line {lines}: put code in the place of `...`."
        return Report((Finding("blank", message, blanks),))
    printed, n_right, note = StringIO(), 0, ""
    about = ""
    try:
        with redirect_stdout(printed):
            function = load_function(answer, {"cupy": _LatestCupy()})
            _check_parameters(function, exercise.parameters)
            for case in exercise.cases():
                about = case.about
                note = _judge_case(exercise, function, case) or note
                n_right += 1
    except RefusedError as refusal:
        finding = refusal.finding
    except (Exception, SystemExit, EndlessError) as error:
        if not line_of(error):
            raise  # not the reader's doing
        finding = raised(error, answer.name)
    else:
        return Report((), about, n_right, note=note, printed=_beginning(printed.getvalue()))
    return Report((finding,), about, n_right, printed=_beginning(printed.getvalue()))


def _beginning(text: str) -> str:
    """Return the first lines of what was printed, and how many there are more."""
    lines = text.rstrip("\n").split("\n")
    more = len(lines) - _MOST_PRINTED
    return "\n".join([*lines[:_MOST_PRINTED], *[f"... and {count(more, 'more line')}"] * (more > 0)])


def _judge_case(exercise: HostExercise, function: Callable[..., Any], case: Case) -> str | None:
    before = {
        place: [*value] if isinstance(value, list) else data_of(value).copy()
        for place, value in enumerate(case.arguments)
        if isinstance(value, (list, *ARRAYS)) and place not in case.changes
    }
    try:
        result = function(*case.arguments)
    except Exception as error:
        if case.raises and isinstance(error, case.raises):
            return None
        raise
    if case.raises:
        raise RefusedError(Finding("wrong", f"Expected {case.raises.__name__}; got {shown(result)}."))
    wrong = None if case.expected is ANYTHING else difference(result, case.expected, case.tolerance)
    for place, copy in before.items():
        if _plain(case.arguments[place]) != _plain(copy):
            message = f"The function changed {exercise.parameters[place]}, which belongs to the caller."
            raise RefusedError(Finding("input_changed", message))
    if wrong:
        raise RefusedError(Finding("wrong", wrong))
    return exercise.judge(case, result) if exercise.judge else None


def _plain(value: Any) -> Any:
    """Return what two equal inputs have in common."""
    if isinstance(value, list):
        return [id(item) if isinstance(item, ARRAYS) else item for item in value]
    data = data_of(value)
    return data.shape, data.dtype, data.tobytes()


def _check_parameters(function: Any, parameters: tuple[str, ...]) -> None:
    try:
        inspect.signature(function).bind(*parameters)
    except TypeError:
        message = f"The function must take the parameters ({', '.join(parameters)})."
        raise RefusedError(Finding("signature", message)) from None


def _blanks(answer: Answer, start: str) -> tuple[int, ...]:
    """Return the lines in which ``...`` still stands for code, where the start has such."""
    lines = []
    for source in (start, answer.source):
        try:
            nodes = [*ast.walk(ast.parse(source))]
        except SyntaxError:
            return ()
        holders = [n for n in nodes if isinstance(n, ast.Expr | ast.Assign | ast.Return | ast.AnnAssign)]
        lines.append(
            [n.lineno for n in holders if isinstance(n.value, ast.Constant) and n.value.value is ...]
        )
    return tuple(sorted(lines[1])) if lines[0] else ()
