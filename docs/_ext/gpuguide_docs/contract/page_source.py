"""The text of a page, a script or a MyST file, as the contract sees it; nothing of it is executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from markdown_it.renderer import RendererHTML

from gpuguide_docs.pages.cells import Cell, read_cells

if TYPE_CHECKING:
    from pathlib import Path

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = [
    "CodeUse",
    "DirectiveUse",
    "Heading",
    "PageSource",
    "Paragraph",
    "RoleUse",
    "prose_lines",
    "read_myst",
    "read_script",
    "shown_words",
]

_ROLE = re.compile(r":(?P<name>[A-Za-z][\w:+.-]*):`(?P<text>[^`]*)`")
_MYST_ROLE = re.compile(r"\{[A-Za-z][\w:+.-]*\}`[^`]*`")
_LITERAL = re.compile(r"``[^`]*(?:`[^`]+)*``|`[^`\n]+`(?!_)")
_LINK = re.compile(r"`([^`<]+?)\s*<[^>]*>`__?")
_MARKDOWN_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_DIRECTIVE = re.compile(r"\.\. (?P<name>[\w:-]+)::\s*(?P<argument>.*)")
_MYST_DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*)", re.DOTALL)
_OPTION = re.compile(r"\s*:(?P<name>[\w-]+):(?:\s+(?P<value>.*))?$")
_UNDERLINE = re.compile(r"^([=\-~^\"'#*+])\1{2,}\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,}|:{3,})\s*(\{[\w:-]+\})?")
_PART = "part-"
_MYST_EXTENSIONS = frozenset(("attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"))
# Directives of a MyST page that show code which does not stand in the page.
_SHOW_CODE = ("kernel", "install-command")
_PYTHON = ("python", "py", "ipython", "ipython3")
_PROSE = """admonition attention caution container danger drawing dropdown error finding grid
grid-item grid-item-card hint important list-table note question seealso solution tab-item tab-set tip topic
warning"""
#: Directives whose content is prose; the content of all others is taken out.
PROSE_DIRECTIVES = frozenset(_PROSE.split())


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
        ``"text"``, ``"code"`` or ``"kernel"`` (code shown by the directive) for each stretch.
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


def read_script(script: Path) -> PageSource:
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
    reader = _ScriptReader(source)
    for cell in read_cells(script):
        reader.read(cell)
    return source


def _states(cell: Cell) -> bool:
    """Say whether a drawn cell draws no chart: it states claims and facts."""
    return cell.kind == "drawn" and not re.search(r"\bplot_\w+\(|\bplt\.", cell.content)


class _ScriptReader:
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
            # What is stated of a result belongs to the code above that measured it.
            if not (_states(cell) and self._source.order[-1:] == ["code"]):
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
        options = {found["name"]: found["value"] or "" for found in matches if found}
        content = "\n".join(line.strip() for line in body[len(matches) :]).strip()
        name, argument, line = match["name"], match["argument"].strip(), cell.lineno + start
        if name in ("rst-class", "class"):
            classes = [word.removeprefix(_PART) for word in argument.split() if word.startswith(_PART)]
            self._next_parts += tuple(classes)
        self._source.directives.append(DirectiveUse(name, argument, options, content, line, self._parts))
        if name == "kernel":
            self._source.order.append("kernel")
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


def read_myst(path: Path) -> PageSource:
    """Read a page written in MyST.

    Parameters
    ----------
    path : Path
        The file: a title, and the page's question as the paragraph under it.

    Returns
    -------
    PageSource
        Its parts are not named, so `PageSource.parts` is empty.
    """
    text = path.read_text(encoding="utf-8")
    source = PageSource(figures=prose_lines(text, "md"))
    _MystReader(source).read(text, 1)
    if source.paragraphs:
        source.question = source.paragraphs.pop(0).text
        source.order.pop(0)
    return source


class _MystReader:
    """Walks through the blocks that MyST's parser finds, and into directives that hold text."""

    def __init__(self, source: PageSource) -> None:
        self._source = source
        self._parser = _parser()

    def read(self, text: str, first_line: int) -> None:
        """Take in text that begins at a line of the file."""
        heading = ""
        for token in self._parser.parse(text):
            line = first_line + (token.map[0] if token.map else 0)
            if token.type == "heading_open":
                heading = token.tag
            elif token.type == "inline" and heading:
                self._heading(token.content, heading, line)
                heading = ""
            elif token.type == "inline":
                self._paragraph(token.children or (), line)
            elif token.type in ("fence", "colon_fence"):
                self._fence(token, line)

    def _heading(self, text: str, tag: str, line: int) -> None:
        if tag == "h1" and not self._source.title:
            self._source.title = text
        else:
            self._source.headings.append(Heading(text, line))

    def _paragraph(self, tokens: Iterable[Token], line: int) -> None:
        words = " ".join("".join(self._words(token, line) for token in tokens).split())
        if words:
            self._source.paragraphs.append(Paragraph(words, line))
            self._source.order.append("text")

    def _words(self, token: Token, line: int) -> str:
        match token.type:
            case "text":
                return token.content
            case "softbreak" | "hardbreak":
                return "\n"
            case "myst_role":
                name, text = token.meta["name"].rpartition(":")[2], " ".join(token.content.split())
                self._source.roles.append(RoleUse(name, text, line, ()))
                return shown_words(name, text)
            case "math_inline":
                return "N"
        return "".join(self._words(child, line) for child in token.children or ())

    def _fence(self, token: Token, line: int) -> None:
        directive = _MYST_DIRECTIVE.fullmatch(token.info.strip())
        if directive is None:
            self._code(token.info.split(maxsplit=1)[:1], token.content, line + 1)
            return
        lines = token.content.splitlines()
        options = [found for found in takewhile(bool, map(_OPTION.match, lines)) if found]
        content = "\n".join(lines[len(options) :])
        name, argument = directive["name"], directive["argument"].strip()
        named = {option["name"]: option["value"] or "" for option in options}
        self._source.directives.append(DirectiveUse(name, argument, named, content.strip(), line, ()))
        if name in ("code-block", "code-cell"):
            self._code([argument or "python"], content, line + 1)
        elif name in _SHOW_CODE:
            self._source.order.append("code")
        elif name in PROSE_DIRECTIVES:
            self.read(argument, line)
            self.read(content, line + 1 + len(options))

    def _code(self, language: list[str], code: str, line: int) -> None:
        self._source.order.append("code")
        if language and language[0] in _PYTHON:
            self._source.code.append(CodeUse(Cell("recorded", len(self._source.code), code, line), ()))


def _parser() -> MarkdownIt:
    # Prose is also read where no site is built, and MyST is not installed.
    from myst_parser.config.main import MdParserConfig
    from myst_parser.parsers.mdit import create_md_parser

    return create_md_parser(MdParserConfig(enable_extensions=set(_MYST_EXTENSIONS)), RendererHTML)


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


def prose_lines(text: str, markup: str = "rst") -> list[tuple[int, str]]:
    r"""Lines of prose in a text.

    Parameters
    ----------
    text : str
        reStructuredText or Markdown with MyST's roles and directives.
    markup : {"rst", "md"}
        Which of them.

    Returns
    -------
    list of (int, str)
        Line number from 1 and the line, with roles, literals and addresses taken out.

    Examples
    --------
    >>> prose_lines("Takes :measured:`f` on ``x``.\n\n.. code-block:: c\n\n   int x;\n")
    [(1, 'Takes   on  .')]
    """
    kept = (_rst(text) if markup == "rst" else _markdown(text)) or [(1, "")]
    # A role may run over the end of a line, so roles are taken out of paragraphs, not of lines.
    cleaned = _inline("\n".join(line for _, line in kept), markup).split("\n")
    return [(number, line) for (number, _), line in zip(kept, cleaned, strict=True) if line.strip()]


def _inline(text: str, markup: str) -> str:
    def blank(match: re.Match[str]) -> str:
        return " " + "\n" * match.group().count("\n")

    def words(match: re.Match[str]) -> str:
        missing = match.group().count("\n") - match[1].count("\n")
        return match[1] + "\n" * missing

    if markup == "rst":
        text = _LINK.sub(words, _ROLE.sub(blank, text))
    else:
        text = _MARKDOWN_LINK.sub(words, _MYST_ROLE.sub(blank, text))
    return _LITERAL.sub(blank, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _rst(text: str) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    skip_below: int | None = None  # lines indented deeper than this belong to code
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            kept.append((number, ""))
            continue
        if skip_below is not None and _indent(line) > skip_below:
            continue
        skip_below = None
        directive = _DIRECTIVE.match(line.lstrip())
        if directive and directive["name"] in PROSE_DIRECTIVES:
            kept.append((number, directive["argument"] if directive["name"] != "drawing" else ""))
        elif directive or line.lstrip().startswith(".. "):
            skip_below = _indent(line)
        elif not _OPTION.match(line):
            kept.append((number, line))
            if line.rstrip().endswith("::"):
                skip_below = _indent(line)
    return kept


def _markdown(text: str) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    code_fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if code_fence:
            if line.strip() == code_fence:
                code_fence = ""
            continue
        if fence:
            name = (fence[2] or "").strip("{}")
            if name in PROSE_DIRECTIVES:
                kept.append((number, line[fence.end() :]))
            elif fence[1][0] != ":" or name:
                code_fence = fence[1]
            continue
        if not _OPTION.match(line):
            kept.append((number, line))
    return kept
