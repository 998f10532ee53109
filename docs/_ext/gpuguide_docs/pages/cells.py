"""A page script as cells: text, recorded code, drawn code, and code that holds comments only."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, cast

from sphinx.errors import ExtensionError

__all__ = [
    "DRAW",
    "THUMBNAIL",
    "WRONG",
    "Block",
    "Cell",
    "CellKind",
    "Place",
    "cells_from_blocks",
    "read_cells",
]

DRAW = "# draw"
THUMBNAIL = "# thumbnail"
WRONG = "# wrong:"
_HEADER = re.compile(r"# ?(?P<word>record|output|fold|wrong, ?fold)(:(?P<title>.*)|$)")
# sphinx-gallery treats the comment right under ``# %%`` as text.
_HEADER_AS_TEXT = re.compile(r"draw|thumbnail|(draw|record|output|fold|wrong|wrong, ?fold):.*")
# What follows on the line of the mark itself, sphinx-gallery drops.
_TEXT_ON_MARK = re.compile(r"# ?%%[ \t]*(\S.*)")

CellKind = Literal["text", "recorded", "drawn", "comment"]
Place = Literal["open", "output", "folded", "end"]


class Block(NamedTuple):
    """A block as sphinx-gallery hands it over: ``type`` is ``"text"`` or ``"code"``."""

    type: str
    content: str
    lineno: int


@dataclass(frozen=True)
class Cell:
    """One cell of a page."""

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
    def is_thumbnail(self) -> bool:
        """Whether the cell draws the page's picture on other pages; the page itself shows nothing of it."""
        return self.kind == "drawn" and self.first_line == THUMBNAIL

    @property
    def is_wrong(self) -> bool:
        """Whether the cell is wrong on purpose (its first line says what is)."""
        word = self._header["word"] if self._header else ""
        return self.kind == "recorded" and (self.first_line.startswith(WRONG) or word.startswith("wrong"))

    @property
    def place(self) -> Place:
        """Where a recorded cell stands: open, its output alone, folded, or folded at the end of the page."""
        if self._header is None:
            return "open"
        places: dict[str, Place] = {"record": "end", "output": "output"}
        return places.get(self._header["word"], "folded")

    @property
    def title(self) -> str:
        """What the header of a cell says; empty for one without."""
        if self.kind == "drawn":
            return self.first_line.removeprefix(DRAW).lstrip(":").strip()
        return (self._header["title"] or "").strip() if self._header else ""

    @property
    def body(self) -> str:
        """The code without its header."""
        if self._header is None:
            return self.content
        lines = self.content.split("\n")
        return "\n".join(lines[next(i for i, line in enumerate(lines) if line.strip()) + 1 :])

    @property
    def _header(self) -> re.Match[str] | None:
        return _HEADER.fullmatch(self.first_line) if self.kind == "recorded" else None


def _kind(block: Block) -> CellKind:
    if block.type == "text":
        return "text"
    first = next((line.strip() for line in block.content.splitlines() if line.strip()), "")
    if first in (DRAW, THUMBNAIL) or first.startswith(f"{DRAW}:"):
        return "drawn"
    try:
        has_code = bool(ast.parse(block.content).body)
    except SyntaxError:
        # The code that runs the cell reports the error, with its line.
        has_code = True
    return "recorded" if has_code else "comment"


def cells_from_blocks(
    blocks: Iterable[tuple[str, str, int]], script: Path | str = "the page"
) -> tuple[Cell, ...]:
    """Cells of sphinx-gallery's blocks, in order."""
    seen: Counter[str] = Counter()
    cells = []
    for block in (Block(*each) for each in blocks):
        kind = _kind(block)
        cells.append(Cell(kind, seen[kind], block.content, block.lineno))
        _check_header(cells[-1], script)
        seen[kind] += 1
    return tuple(cells)


def _check_header(cell: Cell, script: Path | str) -> None:
    where = f"{script}, line {cell.lineno}"
    if cell.kind == "text" and _HEADER_AS_TEXT.fullmatch(cell.content.strip()):
        header = f"# {cell.content.strip()}"
        raise ExtensionError(f"{where}: {header!r} would be shown as text; leave a line empty above it")
    if cell.place != "open" and not cell.title:
        header = cell.first_line.rstrip(": ")
        raise ExtensionError(f"{where}: expected a title, as in '{header}: What this is'")


def read_cells(path: Path | str) -> tuple[Cell, ...]:
    """Cells of a page script."""
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(str(path))
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if dropped := _TEXT_ON_MARK.fullmatch(line):
            raise ExtensionError(
                f"{path}, line {number}: {dropped[1]!r} would be dropped; begin the text on the line below"
            )
    return cells_from_blocks(cast("Iterable[tuple[str, str, int]]", blocks), path)
