"""A page's script as the contract sees it: parts, prose, roles, directives and code, with their lines."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from gpuguide_docs.cells import Cell, read_cells
from gpuguide_docs.prose import prose_lines

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "CodeUse",
    "DirectiveUse",
    "Heading",
    "PageSource",
    "Paragraph",
    "RoleUse",
    "read_page",
    "shown_words",
]

_ROLE = re.compile(r":(?P<name>[A-Za-z][\w:+.-]*):`(?P<text>[^`]*)`")
_DIRECTIVE = re.compile(r"^\.\. (?P<name>[\w:-]+)::\s*(?P<argument>.*)$")
_OPTION = re.compile(r"^\s+:(?P<name>[\w-]+):\s*(?P<value>.*)$")
_UNDERLINE = re.compile(r"^([=\-~^\"'#*+])\1{2,}\s*$")
_PART = "part-"


@dataclass(frozen=True)
class RoleUse:
    """A role: its last name, text, line of the script and the parts that it stands in."""

    name: str
    text: str
    line: int
    parts: tuple[str, ...]

    @property
    def target(self) -> str:
        """What it points to."""
        return self.text.rpartition("<")[2].rstrip(">") if self.text.endswith(">") else self.text


@dataclass(frozen=True)
class DirectiveUse:
    """A directive with its content, line of the script and the parts that it stands in."""

    name: str
    argument: str
    options: dict[str, str]
    content: str
    line: int
    parts: tuple[str, ...]


@dataclass(frozen=True)
class CodeUse:
    """A code cell and the parts that it stands in."""

    cell: Cell
    parts: tuple[str, ...]

    @property
    def n_lines(self) -> int:
        """Lines that are not blank."""
        return sum(bool(line.strip()) for line in self.cell.content.splitlines())

    @property
    def imports(self) -> set[str]:
        """Top-level names of the packages that it imports."""
        found = set()
        for node in ast.walk(ast.parse(self.cell.content)):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])
        return found


@dataclass(frozen=True)
class Heading:
    """A heading and its line."""

    text: str
    line: int


@dataclass(frozen=True)
class Paragraph:
    """Prose without roles and literals, and its first line."""

    text: str
    line: int


@dataclass
class PageSource:
    """All of a page.

    Attributes
    ----------
    title, question : str
        From the docstring.
    parts : list of str
        Names of the parts in order of their headings.
    order : list of str
        ``"text"`` or ``"code"`` for each stretch; kernels count as code.
    headings, paragraphs, roles, directives, code : list
        In order.
    figures : list of (int, str)
        Lines of prose to be searched for typed figures.
    """

    title: str = ""
    question: str = ""
    parts: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    paragraphs: list[Paragraph] = field(default_factory=list)
    roles: list[RoleUse] = field(default_factory=list)
    directives: list[DirectiveUse] = field(default_factory=list)
    code: list[CodeUse] = field(default_factory=list)
    figures: list[tuple[int, str]] = field(default_factory=list)

    @property
    def n_words(self) -> int:
        """Words of prose, headings and code left out."""
        return sum(len(paragraph.text.split()) for paragraph in self.paragraphs)

    @property
    def prose(self) -> str:
        """All prose."""
        return "\n\n".join(paragraph.text for paragraph in self.paragraphs)

    def directive(self, name: str) -> list[DirectiveUse]:
        """Directives of one name, in order."""
        return [use for use in self.directives if use.name == name]

    def role(self, *names: str) -> list[RoleUse]:
        """Roles of these names, in order."""
        return [use for use in self.roles if use.name in names]


def read_page(script: Path) -> PageSource:
    """Read a page's script.

    Parameters
    ----------
    script : Path
        With a docstring and ``# %%`` cells.

    Returns
    -------
    PageSource
        Nothing of it is executed.
    """
    source = PageSource()
    reader = _Reader(source)
    for cell in read_cells(script):
        reader.read(cell)
    return source


class _Reader:
    """Walks through the cells and keeps the parts of the section that it is in."""

    def __init__(self, source: PageSource) -> None:
        self._source = source
        self._parts: tuple[str, ...] = ()
        self._next_parts: tuple[str, ...] = ()

    def read(self, cell: Cell) -> None:
        """Take in one cell."""
        if cell.kind == "comment":
            return
        if cell.is_code:
            self._source.code.append(CodeUse(cell, self._parts))
            self._source.order.append("code")
            return
        if not self._source.title and cell.index == 0:
            lines = [line for line in cell.content.splitlines() if line.strip()]
            self._source.title, self._source.question = lines[0].strip(), " ".join(lines[2:]).strip()
            return
        self._text(cell)

    def _text(self, cell: Cell) -> None:
        lines = cell.content.splitlines()
        prose = prose_lines(cell.content)
        self._source.figures += [(cell.lineno + number - 1, line) for number, line in prose]
        number = 0
        while number < len(lines):
            directive = _DIRECTIVE.match(lines[number])
            if directive:
                number = self._directive(cell, lines, number, directive)
            elif number + 1 < len(lines) and lines[number].strip() and _UNDERLINE.match(lines[number + 1]):
                self._heading(lines[number].strip(), cell.lineno + number)
                number += 2
            elif lines[number].strip():
                number = self._paragraph(cell, lines, number)
            else:
                number += 1

    def _heading(self, text: str, line: int) -> None:
        self._source.headings.append(Heading(text, line))
        self._parts, self._next_parts = self._next_parts, ()
        self._source.parts += self._parts

    def _directive(self, cell: Cell, lines: list[str], start: int, match: re.Match[str]) -> int:
        stop = start + 1
        while stop < len(lines) and (not lines[stop].strip() or lines[stop][:1].isspace()):
            stop += 1
        body = lines[start + 1 : stop]
        # Options end at the first line that is none: further down, a line may begin with a role.
        matches = list(takewhile(bool, map(_OPTION.match, body)))
        options = {found["name"]: found["value"] for found in matches if found}
        content = "\n".join(line.strip() for line in body[len(matches) :]).strip()
        name, argument, line = match["name"], match["argument"].strip(), cell.lineno + start
        if name in ("rst-class", "class"):
            classes = [word.removeprefix(_PART) for word in argument.split() if word.startswith(_PART)]
            self._next_parts += tuple(classes)
        self._source.directives.append(DirectiveUse(name, argument, options, content, line, self._parts))
        if name == "kernel":
            self._source.order.append("code")
        elif name == "question":
            self._prose(f"{argument}\n{content}", line)
        elif name in ("finding", "list-table", "dropdown", "note", "tip", "hint", "warning", "important"):
            self._prose(content, line)
        return stop

    def _paragraph(self, cell: Cell, lines: list[str], start: int) -> int:
        stop = start
        while stop < len(lines) and lines[stop].strip() and not _DIRECTIVE.match(lines[stop]):
            stop += 1
        self._prose("\n".join(lines[start:stop]), cell.lineno + start)
        return max(stop, start + 1)

    def _prose(self, text: str, line: int) -> None:
        for match in _ROLE.finditer(text):
            at = line + text[: match.start()].count("\n")
            name = match["name"].rpartition(":")[2]
            self._source.roles.append(RoleUse(name, " ".join(match["text"].split()), at, self._parts))
        words = " ".join(text for _, text in prose_lines(_ROLE.sub(_role_words, text)))
        if words.split():
            self._source.paragraphs.append(Paragraph(" ".join(words.split()), line))
            self._source.order.append("text")


def _role_words(match: re.Match[str]) -> str:
    return shown_words(match["name"].rpartition(":")[2], match["text"])


def shown_words(name: str, text: str) -> str:
    """Give what readers see of a role in running text: a number counts as one word.

    Parameters
    ----------
    name : str
        Last name of the role.
    text : str
        What stands in it.

    Returns
    -------
    str
        Words.

    Examples
    --------
    >>> shown_words("term", "warps <warp>"), shown_words("measured", "sort.crossover(a, b)")
    ('warps', 'N')
    """
    if name in ("measured", "claimed", "rule", "math"):
        return "N"
    return text.partition("<")[0].strip() or text
