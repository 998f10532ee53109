"""Where a kernel's arithmetic in double precision begins: found in the types that Numba inferred."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuguide.exercises.constants import evaluate
from gpuguide.exercises.reading import Answer

__all__ = ["Cause", "causes", "lines_of_doubles"]


@dataclass(frozen=True, order=True)
class Cause:
    """A line that makes a float64, and how."""

    line: int
    what: str


def lines_of_doubles(ptx: str) -> frozenset[int]:
    r"""Return the lines of the source whose instructions are in double precision.

    >>> lines_of_doubles("\t.loc\t1 6 0\n\tadd.f64 %fd1, %fd2, %fd3;\n\t.loc 1 7 0\n\tadd.f32 %f1, %f2, %f3;")
    frozenset({6})
    """
    found, line = set(), 0
    for text in map(str.strip, ptx.splitlines()):
        if at := re.match(r"\.loc\s+\d+\s+(\d+)", text):
            line = int(at[1])
        elif ".f64" in text and not text.startswith("."):
            found.add(line)
    return frozenset(found)


def causes(compiled: Any, answer: Answer, lines: frozenset[int]) -> tuple[Cause, ...]:
    """Return what makes the numbers that some lines compute with float64."""
    inferred = _Inferred(compiled.type_annotation, answer)
    return tuple(
        sorted({cause for each in inferred.statements(lines) for cause in inferred.of_statement(each)})
    )


def _is_wide(kind: Any) -> bool:
    """Say whether a type is float64, or an array or a tuple of it."""
    elements = (getattr(kind, "dtype", kind), *getattr(kind, "types", ()))
    return type(kind).__name__ != "NumberClass" and any(str(each) == "float64" for each in elements)


def _is_number(kind: Any) -> bool:
    return str(getattr(kind, "literal_type", kind)).startswith(("int", "uint", "float"))


def _is_a(kind: Any, value: object) -> str:
    """Say of which type a constant is."""
    if hasattr(kind, "ndim"):
        return "is an array of float64"
    if isinstance(value, tuple):
        return "holds a Python float, which has 64 bits" if float in map(type, value) else "holds a float64"
    return "is a Python float, which has 64 bits" if type(value) is float else "is a float64"


@dataclass(eq=False)
class _Inferred:
    """One function in Numba's representation: what defines each variable, and of which type it is."""

    annotation: Any
    answer: Answer
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._kinds = self.annotation.typemap
        self._definitions: dict[str, list[Any]] = {}
        for statement in self.statements():
            if hasattr(statement.target, "name"):
                self._definitions.setdefault(statement.target.name, []).append(statement)

    def statements(self, lines: frozenset[int] = frozenset()) -> Iterator[Any]:
        """Yield those of some lines, or all."""
        for block in self.annotation.blocks.values():
            for statement in block.body:
                # A jump has a target, too, but no value.
                sets = hasattr(statement, "target") and hasattr(statement, "value")
                if sets and (not lines or statement.loc.line in lines):
                    yield statement

    def of_statement(self, statement: Any) -> Iterator[Cause]:
        """Yield why a statement computes with float64; nothing if it does not."""
        self._seen.clear()
        if not hasattr(statement, "index"):
            operation = getattr(statement.value, "op", "")
            used = [each for each in getattr(statement.value, "list_vars", list)() if self._wide(each)]
            if operation in ("binop", "inplace_binop", "unary") and used:
                for each in used:
                    yield from self._origin(each)
            elif operation in ("binop", "inplace_binop", "call"):
                yield from self._of_definition(statement)
            elif type(statement.value).__name__ == "Var" and self._wide(statement.target):
                yield from self._origin(statement.target)
        elif self._wide(statement.target):  # a value is stored into an array of float64
            yield from self._origin(statement.target)
        elif self._wide(statement.value):  # it is narrowed as it is stored
            yield from self._origin(statement.value)

    def of_all(self) -> Iterator[Cause]:
        """Yield why a function computes with float64, or returns one."""
        for statement in self.statements():
            yield from self.of_statement(statement)
        for block in self.annotation.blocks.values():
            if self._wide(value := getattr(block.terminator, "value", None)):
                yield from self._origin(value)

    def _wide(self, variable: Any) -> bool:
        return _is_wide(self._kinds.get(getattr(variable, "name", ""), None))

    def _origin(self, variable: Any) -> Iterator[Cause]:
        """Follow a float64 back to where it comes from."""
        if variable.name not in self._seen:
            self._seen.add(variable.name)
            definitions = self._definitions.get(variable.name, ())
            found = [cause for each in definitions for cause in self._of_definition(each)]
            yield from found
            if self._wide(variable) and not found:
                yield from self._either(definitions)

    def _either(self, definitions: Sequence[Any]) -> Iterator[Cause]:
        """Say which number gives a float64 its type, where what else it may be is none either."""
        sources = [self._source(each) for each in definitions]
        used = [each.target for each in sources]
        used += [each for source in sources for each in getattr(source.value, "list_vars", list)()]
        kinds = dict.fromkeys(self._kind(each) for each in used if _is_number(self._kinds[each.name]))
        for source in sources:
            own = self._kind(source.target)
            others = " or ".join(kind for kind in kinds if kind not in (own, "float64"))
            if type(source.value).__name__ == "Const" and "int" in own and others:
                written = self._written(source.value.value, source.loc.line)
                what = f"{written} is an {own}, and what may be {others} as well is float64 in Numba"
                yield Cause(source.loc.line, what)

    def _source(self, definition: Any) -> Any:
        """Follow a definition by a variable that has one itself, and so on."""
        while type(definition.value).__name__ == "Var":
            found = self._definitions.get(definition.value.name, ())
            if len(found) != 1:
                break
            (definition,) = found
        return definition

    def _kind(self, variable: Any) -> str:
        """Return the type of a variable, without the value of a number that is known."""
        kind = self._kinds[variable.name]
        return str(getattr(kind, "literal_type", kind))

    def _of_definition(self, definition: Any) -> Iterator[Cause]:
        value, line, kind = definition.value, definition.loc.line, self._kinds.get(definition.target.name)
        operation = getattr(value, "op", "")
        if operation == "call":
            yield from self._of_call(definition)
            return
        if not _is_wide(kind):
            return
        if type(value).__name__ == "Const":
            yield Cause(line, f"{self._written(value.value, line)} is a Python float, which has 64 bits")
        elif type(value).__name__ in ("Global", "FreeVar"):
            yield Cause(line, f"{value.name}, from outside the kernel, {_is_a(kind, value.value)}")
        elif type(value).__name__ == "Var":
            yield from self._origin(value)
        elif operation:
            wide = [each for each in value.list_vars() if self._wide(each)]
            for each in wide:
                yield from self._origin(each)
            if operation in ("binop", "inplace_binop") and not wide:
                yield Cause(line, self._mixed(value, line))

    def _mixed(self, value: Any, line: int) -> str:
        """Say why two numbers of which neither is a float64 make one."""
        sides = value.lhs, value.rhs
        left, right = map(self._kind, sides)
        if "float" not in left + right:
            return f"{left} is divided by {right}, which makes float64 in Numba; // makes a whole number"
        numbers = [
            self._written(definition.value.value, line)
            for each in sides
            for definition in self._definitions.get(each.name, ())
            if type(definition.value).__name__ == "Const"
        ]
        why = f", and {numbers[0]} is an int64" if numbers else ""
        return f"{left} meets {right}, which makes float64 in Numba{why}"

    def _of_call(self, definition: Any) -> Iterator[Cause]:
        call, line = definition.value, definition.loc.line
        called, made = self._kinds[call.func.name], self._kinds.get(definition.target.name)
        if type(called).__name__ == "NumberClass":
            # One that narrows makes no float64, and what it narrows was made elsewhere.
            if _is_wide(made):
                yield Cause(line, "a number is converted to float64")
            return
        wide = [each for each in call.list_vars() if self._wide(each)]
        found = [cause for each in wide for cause in self._origin(each)]
        for compiled in getattr(getattr(called, "dispatcher", None), "overloads", {}).values():
            found += _Inferred(compiled.type_annotation, self.answer).of_all() if not found else []
        if found or wide or not _is_wide(made):
            yield from found
        elif hasattr(made, "ndim"):
            yield Cause(line, f"{definition.target.name} is made as an array of float64")
        else:
            yield Cause(line, f"{self._name(call.func)} makes a float64")

    def _name(self, variable: Any) -> str:
        """Return the name by which a function is called."""
        (definition,) = self._definitions[variable.name]
        return str(getattr(definition.value, "attr", "") or definition.value.name)

    def _written(self, value: Any, line: int) -> str:
        """Return a number as the reader wrote it: Python itself has worked out 5 / 9 before Numba sees it."""
        for node in ast.walk(self.answer.tree):
            if isinstance(node, ast.expr) and node.lineno == line:
                try:
                    found = evaluate(node, {})
                except ValueError:
                    continue
                if type(found) is type(value) and found == value:
                    return ast.unparse(node)
        return repr(value)
