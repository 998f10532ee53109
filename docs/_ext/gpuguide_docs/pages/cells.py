"""A page script as cells: text, recorded code, drawn code, and code that holds comments only."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, cast

__all__ = ["DRAW", "WRONG", "Block", "Cell", "CellKind", "cells_from_blocks", "read_cells"]

DRAW = "# draw"
WRONG = "# wrong:"

CellKind = Literal["text", "recorded", "drawn", "comment"]


class Block(NamedTuple):
    """A block as sphinx-gallery hands it over: ``type`` is ``"text"`` or ``"code"``."""

    type: str
    content: str
    lineno: int


@dataclass(frozen=True)
class Cell:
    """One cell of a page.

    Parameters
    ----------
    kind : {"text", "recorded", "drawn", "comment"}
        ``"comment"`` is code without a statement: it is never run and has no output, so that adding
        one shifts no output of another cell.
    index : int
        Place among the cells of the same kind, from 0. The transcript of a page numbers its recorded
        cells this way, so that neither prose nor drawings shift it.
    content : str
        The text (reST) or the code.
    lineno : int
        First line in the script, from 1.
    """

    kind: CellKind
    index: int
    content: str
    lineno: int

    @property
    def first_line(self) -> str:
        """The first line that is not blank, stripped."""
        return next((line.strip() for line in self.content.splitlines() if line.strip()), "")

    @property
    def is_code(self) -> bool:
        """Whether the cell is shown as code."""
        return self.kind != "text"

    @property
    def is_wrong(self) -> bool:
        """Whether the cell is wrong on purpose (its first line says what is)."""
        return self.kind == "recorded" and self.first_line.startswith(WRONG)


def _kind(block: Block) -> CellKind:
    if block.type == "text":
        return "text"
    first = next((line.strip() for line in block.content.splitlines() if line.strip()), "")
    if first == DRAW or first.startswith(f"{DRAW}:"):
        return "drawn"
    try:
        has_code = bool(ast.parse(block.content).body)
    except SyntaxError:
        # Whoever runs the cell reports the error, with its line.
        has_code = True
    return "recorded" if has_code else "comment"


def cells_from_blocks(blocks: Iterable[tuple[str, str, int]]) -> tuple[Cell, ...]:
    """Cells of sphinx-gallery's blocks, in order.

    Parameters
    ----------
    blocks : iterable of (type, content, lineno)
        As ``split_code_and_text_blocks`` returns them.

    Returns
    -------
    tuple of Cell
        One for each block.
    """
    seen: Counter[str] = Counter()
    cells = []
    for block in (Block(*each) for each in blocks):
        kind = _kind(block)
        cells.append(Cell(kind, seen[kind], block.content, block.lineno))
        seen[kind] += 1
    return tuple(cells)


def read_cells(path: Path | str) -> tuple[Cell, ...]:
    """Cells of a page script.

    Parameters
    ----------
    path : path-like
        The script.

    Returns
    -------
    tuple of Cell
        The first is the docstring: title and question.
    """
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(str(path))
    return cells_from_blocks(cast("Iterable[tuple[str, str, int]]", blocks))
