"""From an instruction of a compiled kernel back to its place in the reader's source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import NamedTuple

from gpuguide.errors import ArgumentError
from gpuguide.exercises.trace.events import LARGEST_LINE, LARGEST_OFFSET, LINE_SHIFT, OFFSET_SHIFT

__all__ = ["Place", "Sites", "site"]

_KIND_BITS = OFFSET_SHIFT + 1


class Place(NamedTuple):
    """An expression's place in the source: lines from 1, columns from 0 in bytes."""

    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, node: ast.expr) -> Place:
        """Return the place of an expression of the syntax tree."""
        return cls(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def site(first_line: int, offset: int) -> int:
    """Return the number of an instruction, as `events.Events.site` holds it."""
    return (first_line << (LINE_SHIFT - _KIND_BITS)) + offset // 2


class Sites:
    """The places of all instructions of a compiled source.

    Parameters
    ----------
    code : types.CodeType
        Of the whole source.
    names : mapping of Place to str
        The variables that arrays made at these places are assigned to.
    from_the_end : frozenset of tuple
        Places and axes of subscripts such as ``x[-1]``, whose negative number is meant.

    Raises
    ------
    ArgumentError
        The source is longer than any kernel.
    """

    def __init__(
        self, code: CodeType, names: Mapping[Place, str], from_the_end: frozenset[tuple[Place, int]]
    ) -> None:
        self.names, self.from_the_end = names, from_the_end
        self._places: dict[int, tuple[Place, ...]] = {}
        for function in _functions(code):
            first = function.co_firstlineno
            places = tuple(
                Place(line or first, column or 0, end or 0, end_column or 0)
                for line, end, column, end_column in function.co_positions()
            )
            if first > LARGEST_LINE or 2 * len(places) > LARGEST_OFFSET:
                raise ArgumentError(
                    f"The function {function.co_name!r} is too long, or stands below line {LARGEST_LINE}. "
                    "Hand in the kernel without what it does not need."
                )
            self._places.setdefault(first, places)

    def place(self, first_line: int, offset: int) -> Place:
        """Return the place of an instruction."""
        places = self._places.get(first_line, ())
        return places[offset // 2] if offset // 2 < len(places) else Place(first_line, 0, 0, 0)

    def line(self, number: int) -> int:
        """Return the line of a site's number."""
        shift = LINE_SHIFT - _KIND_BITS
        return self.place(number >> shift, (number & ((1 << shift) - 1)) * 2).line


def _functions(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _functions(constant)
