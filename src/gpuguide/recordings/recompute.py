"""Works out again, from the raw samples, what a recording says: ceilings, facts and claims.

A claim is stored with the code that decided it. That code is data here: it is read by a small grammar of
comparisons, arithmetic and questions to results, and never executed.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpuguide.errors import GpuGuideError
from gpuguide.results.ceilings import Ceiling
from gpuguide.results.claims import decide
from gpuguide.results.records import ClaimResult, Fact
from gpuguide.results.results import Results
from gpuguide.results.statistics import median

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording

__all__ = ["recompute", "replay_claim"]

_QUESTIONS = frozenset({"crossover", "measurement", "quantity", "series", "share", "speedup"})
_ANSWERS = frozenset(
    {
        "bandwidth",
        "faster_at",
        "flop_rate",
        "high",
        "interval_s",
        "iqr_s",
        "low",
        "median_s",
        "medians_s",
        "n",
    }
    | {"sizes", "slower_at", "value"}
)
_FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "max": max, "min": min}
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_MOST_NAMES = 3


class _BeyondError(ValueError):
    """The code of a claim uses what the grammar does not have."""


def recompute(recording: Recording) -> tuple[str, ...]:
    """Compare what a recording says with what follows from its raw samples.

    Parameters
    ----------
    recording : Recording
        Any. Medians, rates and tables are never stored; that they can be computed is checked.

    Returns
    -------
    tuple of str
        One sentence for each difference, beginning with the field; empty where there is none.
    """
    return tuple(_differences(recording))


def _differences(recording: Recording) -> Iterator[str]:
    for item in recording.ceilings.items if recording.ceilings else ():
        yield from _ceiling(item)
    for fact in recording.facts.values():
        yield from _fact(fact)
    for name, study in recording.studies.items():
        try:
            study.table().text()
        except GpuGuideError as error:
            yield f"studies.{name}: no table can be made of it: {error}"
    for i, claim in enumerate(recording.claims):
        yield from _claim(f"claims[{i}]", claim, recording.studies)


def _ceiling(item: Ceiling) -> Iterator[str]:
    if not (item.samples_ns and item.work):
        return
    seconds = median(item.samples_ns) / 1e9
    value = seconds / item.work if item.unit == "s" else item.work / seconds
    if not math.isclose(value, item.value, rel_tol=1e-6):
        yield f"ceilings.{item.mix}.value: its samples give {value:.6g}, it says {item.value:.6g}."


def _fact(fact: Fact) -> Iterator[str]:
    if fact.samples and not isinstance(fact.value, str):
        low, high = min(fact.samples), max(fact.samples)
        if not low <= fact.value <= high:
            span = f"{low:.6g} to {high:.6g}"
            yield f"facts.{fact.name}.value: its samples lie from {span}, it says {fact.value:.6g}."


def _claim(field: str, claim: ClaimResult, studies: Mapping[str, Results]) -> Iterator[str]:
    again = replay_claim(claim, studies)
    if again is not None and not _same(again, claim):
        yield f"{field}: {claim.text!r}: the samples give {_shown(again)}, it says {_shown(claim)}."


def _same(one: ClaimResult, other: ClaimResult) -> bool:
    if (one.holds, one.unit) != (other.holds, other.unit):
        return False
    pairs = ((one.low, other.low), (one.high, other.high))
    return all(a == b if a is None or b is None else math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def _shown(claim: ClaimResult) -> str:
    return f"{claim.low!r} to {claim.high!r} {claim.unit} ({'holds' if claim.holds else 'does not hold'})"


def replay_claim(claim: ClaimResult, studies: Mapping[str, Results]) -> ClaimResult | None:
    """Decide a claim again, from other samples for example.

    Parameters
    ----------
    claim : ClaimResult
        With the code that decided it.
    studies : mapping of str to Results
        Studies that it may be about. Which ones its names stand for is found by trying: those that have
        all variants and sizes it asks for, first those that give what it says.

    Returns
    -------
    ClaimResult or None
        None where the code uses more than this grammar, such as a variable of the page.

    Examples
    --------
    >>> from gpuguide.results.sample import sample_results
    >>> results = sample_results()
    >>> claim = ClaimResult("Kernels win", True, expression='r.speedup("numba", "numpy", 2**26).low > 1')
    >>> replay_claim(claim, {"sample": results}).holds
    True
    >>> replay_claim(claim, {"sample": results.swap_samples("numba", "numpy")}).holds
    False
    """
    try:
        tree = ast.parse(claim.expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - _FUNCTIONS.keys())
    if not 1 <= len(names) <= _MOST_NAMES:
        return None
    decided = []
    for chosen in itertools.permutations(studies.values(), len(names)):
        again = _decide(claim, tree, names, chosen)
        if again is not None and _same(again, claim):
            return again
        decided.append(again)
    return next((again for again in decided if again is not None), None)


def _decide(
    claim: ClaimResult, tree: ast.expr, names: list[str], chosen: tuple[Results, ...]
) -> ClaimResult | None:
    def predicate(*witnesses: Any) -> bool:
        holds: bool = _value(tree, dict(zip(names, witnesses, strict=True)))
        return holds

    try:
        result, _ = decide(claim.text, chosen, predicate)
    except (
        GpuGuideError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ):
        return None
    return None if result.holds is None else result


def _value(node: ast.AST, known: Mapping[str, Any]) -> Any:
    """Evaluate the grammar; raise `_BeyondError` for everything else."""
    rule = _RULES.get(type(node))
    if rule is None:
        raise _BeyondError(type(node).__name__)
    return rule(node, known)


def _name(node: ast.Name, known: Mapping[str, Any]) -> Any:
    return known[node.id]


def _attribute(node: ast.Attribute, known: Mapping[str, Any]) -> Any:
    if node.attr not in _ANSWERS:
        raise _BeyondError(node.attr)
    return getattr(_value(node.value, known), node.attr)


def _item(node: ast.Subscript, known: Mapping[str, Any]) -> Any:
    return _value(node.value, known)[_value(node.slice, known)]


def _bool(node: ast.BoolOp, known: Mapping[str, Any]) -> bool:
    parts = (_value(part, known) for part in node.values)
    return all(parts) if isinstance(node.op, ast.And) else any(parts)


def _compare(node: ast.Compare, known: Mapping[str, Any]) -> bool:
    values = [_value(part, known) for part in (node.left, *node.comparators)]
    return all(_apply(op, *pair) for op, pair in zip(node.ops, itertools.pairwise(values), strict=True))


def _unary(node: ast.UnaryOp, known: Mapping[str, Any]) -> Any:
    return _apply(node.op, _value(node.operand, known))


def _call(node: ast.Call, known: Mapping[str, Any]) -> Any:
    args = [_value(arg, known) for arg in node.args]
    options = {str(keyword.arg): _value(keyword.value, known) for keyword in node.keywords}
    function = node.func
    if isinstance(function, ast.Name) and function.id in _FUNCTIONS:
        return _FUNCTIONS[function.id](*args)
    if (
        isinstance(function, ast.Attribute)
        and function.attr in _QUESTIONS
        and isinstance(function.value, ast.Name)
    ):
        return getattr(_value(function.value, known), function.attr)(*args, **options)
    raise _BeyondError("a call")


def _arithmetic(node: ast.BinOp, known: Mapping[str, Any]) -> Any:
    left, right = _value(node.left, known), _value(node.right, known)
    if not all(isinstance(value, int | float) and abs(value) <= 2**63 for value in (left, right)):
        raise _BeyondError("arithmetic on something else than numbers")
    if isinstance(node.op, ast.Pow) and not abs(right) <= 64:
        raise _BeyondError("a large power")
    return _apply(node.op, left, right)


def _apply(op: ast.AST, *values: Any) -> Any:
    if type(op) not in _OPERATORS:
        raise _BeyondError(type(op).__name__)
    return _OPERATORS[type(op)](*values)


_RULES: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _arithmetic,
    ast.BoolOp: _bool,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: lambda node, _: node.value,
    ast.Name: _name,
    ast.Subscript: _item,
    ast.UnaryOp: _unary,
}
