"""From an instruction of a compiled kernel back to its place in the reader's source."""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType
from typing import NamedTuple

from gpuguide.errors import ArgumentError
from gpuguide.exercises.trace.events import LARGEST_LINE, LARGEST_OFFSET, LINE_SHIFT, OFFSET_SHIFT

__all__ = ["Place", "Sites"]

#: A site's number holds the first line of its function above these bits, and the instruction below.
_SHIFT = LINE_SHIFT - OFFSET_SHIFT - 1


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


class Sites:
    """The instructions of a compiled source, by numbers, and their places.

    Once Python has specialised an instruction, a frame may stand on the room behind it that Python keeps for
    that; so every offset is first taken back to its instruction.

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
        self._places: dict[int, list[Place]] = {}
        self._starts: dict[int, list[int]] = {}
        for function in _functions(code):
            first = function.co_firstlineno
            if first > LARGEST_LINE or len(function.co_code) > LARGEST_OFFSET:
                raise ArgumentError(
                    f"The function {function.co_name!r} is too long, or stands below line {LARGEST_LINE}. "
                    "Hand in the kernel without what it does not need."
                )
            if first not in self._places:  # of two functions on one line the outer one counts
                self._places[first] = list(_places(function))
                self._starts[first] = list(_starts(function))

    def number(self, frame: FrameType) -> int:
        """Return the number of the instruction that a frame is at."""
        return self.instruction((frame.f_code.co_firstlineno << _SHIFT) + frame.f_lasti // 2)

    def instruction(self, noted: int) -> int:
        """Return the number of the instruction from what an event noted of it."""
        first = noted >> _SHIFT
        starts = self._starts.get(first, ())
        at = noted & ((1 << _SHIFT) - 1)
        return (first << _SHIFT) + (starts[at] if at < len(starts) else at)

    def place(self, number: int) -> Place:
        """Return the place of an instruction."""
        places, at = self._places.get(number >> _SHIFT, ()), number & ((1 << _SHIFT) - 1)
        return places[at] if at < len(places) else Place(number >> _SHIFT, 0, 0, 0)


def _functions(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _functions(constant)


def _places(function: CodeType) -> Iterator[Place]:
    """Yield a place for every two bytes of code."""
    first = function.co_firstlineno
    for line, end_line, column, end_column in function.co_positions():
        yield Place(line or first, column or 0, end_line or 0, end_column or 0)


def _starts(function: CodeType) -> Iterator[int]:
    """Yield, for every two bytes of code, where their instruction starts, in steps of two bytes."""
    starts = {instruction.offset // 2 for instruction in dis.get_instructions(function)}
    start = 0
    for at in range(len(function.co_code) // 2):
        start = at if at in starts else start
        yield start
