"""The text of a page as the contract sees it: the document that Sphinx read, and the cells of its script."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from docutils import nodes
from sphinx import addnodes
from sphinx_design.dropdown import dropdown_main

from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.show.minutes import Reading
from gpuguide_docs.show.numbers import number_node

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from gpuguide_docs.pages.layout import Layout
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["CodeUse", "Documents", "PageSource", "Passage", "Use", "read_source"]

_GENERATED = re.compile(r"\.\. GENERATED FROM PYTHON SOURCE LINES (\d+)-(\d+)")
_PYTHON = ("python", "py", "ipython")
#: What the extension and myst-nb put on a page besides the page's own words.
_ADDED_TEXT = (
    "gg-byline gg-measured-card gg-checks gg-claims gg-download-wheel gg-exercise gg-placeholder gg-pool "
    "gg-results gg-strip cell_output"
)
_ADDED = frozenset(_ADDED_TEXT.split())
_ADDED_NODES = (
    nodes.comment,
    nodes.raw,
    nodes.math_block,
    nodes.substitution_definition,
    nodes.system_message,
)
# Sphinx has made them round, the list of pages and the variants' labels have them as they are typed.
_PLAIN_QUOTES = str.maketrans("‘’“”", "''\"\"")
_NO_WORDS = (nodes.literal, nodes.problematic, nodes.raw, nodes.image)
_MARK = " [evidence] "
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?!\[evidence\])|(?<=\[evidence\])\s+")
_CAUSE = re.compile(r"\bbecause\b", re.IGNORECASE)


@dataclass(frozen=True)
class Use:
    """A role or directive of the page: its kind, what it names, its line, and whether it stands in a fold."""

    kind: str
    key: str
    line: int
    node: nodes.Element
    folded: bool = False


@dataclass(frozen=True)
class CodeUse:
    """A code cell."""

    cell: Cell

    @property
    def is_chart(self) -> bool:
        """Whether it draws a chart: a drawn cell that does more than state claims and facts."""
        return self.cell.kind == "drawn" and not _states(self.cell)

    @property
    def shown_as(self) -> str:
        """How readers meet it: ``"code"``, ``"folded"``, at the ``"end"``, as ``"chart"`` or ``"stated"``."""
        if self.cell.kind == "drawn":
            return "chart" if self.is_chart else "stated"
        return "code" if self.cell.place == "open" else self.cell.place

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
class Passage:
    """A heading or a paragraph, without literals, and its first line; a number is the word ``N``.

    In `marked`, ``[evidence]`` stands in the place of each role of that name.
    """

    text: str
    line: int
    marked: str = ""

    @property
    def bare_causes(self) -> list[str]:
        """Sentences that state a cause and have no evidence."""
        sentences = _SENTENCES.split(self.marked)
        return [each for each in sentences if _CAUSE.search(each) and _MARK.strip() not in each]


@dataclass
class PageSource:
    """All of a page.

    Attributes
    ----------
    title, question : str
        As they stand on the page.
    headings, paragraphs, uses, code : list
        In order.
    answer : list of docutils.nodes.Element
        The paragraphs of the answer.
    reading : Reading
        What stands open on the page, as the build counted it.
    said : str
        Headings and paragraphs with their literals.
    figures : list of (int, str)
        Text to be searched for typed figures; it may have several lines, and the number is the first one's.
    """

    title: str = ""
    question: str = ""
    headings: list[Passage] = field(default_factory=list)
    paragraphs: list[Passage] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    code: list[CodeUse] = field(default_factory=list)
    figures: list[tuple[int, str]] = field(default_factory=list)
    answer: list[nodes.Element] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    said: str = ""

    def of(self, *kinds: str) -> list[Use]:
        """Roles and directives of these kinds, in order."""
        return [use for use in self.uses if use.kind in kinds]


class Documents:
    """The documents that Sphinx read; each is walked through once."""

    def __init__(self, env: BuildEnvironment, layout: Layout) -> None:
        self._env, self._layout = env, layout
        self._pages: dict[str, PageSource] = {}

    def page(self, page: Page) -> PageSource:
        """Give the text of a page."""
        script = page.script(self._layout) if page.format == "script" else None
        return self.named(page.docname, script)

    def named(self, docname: str, script: Path | None = None) -> PageSource:
        """Give the text of a document; of one that is generated from a script, the lines of the script."""
        if docname not in self._pages:
            text = Path(self._env.doc2path(docname)).read_text(encoding="utf-8")
            self._pages[docname] = read_source(self._env.get_doctree(docname), text, script)
        return self._pages[docname]


def read_source(document: nodes.document, text: str, script: Path | None = None) -> PageSource:
    """Read a document as Sphinx keeps it; the text is what Sphinx read, the script what that was made of."""
    cells = [cell for cell in read_cells(script) if cell.kind != "comment"] if script else []
    reader = _Reader(text, cells if script else None)
    reader.source.reading = document.get("reading", Reading())
    reader.read(document)
    reader.source.code += [CodeUse(cell) for cell in cells if cell.is_code]
    return reader.source


def _states(cell: Cell) -> bool:
    """Say whether a drawn cell draws no chart: it states claims and facts."""
    return cell.kind == "drawn" and not re.search(r"\bplot_\w+\(|\bplt\.", cell.content)


class _Reader:
    """Walks through a document."""

    def __init__(self, text: str, cells: list[Cell] | None) -> None:
        self.source = PageSource()
        self._read = text.splitlines()
        self._lines = None if cells is None else _script_lines(self._read, cells)
        self._line = 0
        self._folds = 0

    def read(self, node: nodes.Element) -> None:
        """Take in what is inside a node."""
        for child in node.children:
            if isinstance(child, nodes.Element):
                self._take(child)

    def _take(self, node: nodes.Element) -> None:
        # Where a node begins is not always where docutils says, for example with headings.
        self._line = self._line_of(node)
        if "kernel" in node or "exercise" in node:
            self._shown(node)
        elif "rungs" in node:
            self._use("rungs", node["rungs"], self._line, node)
        elif "rung" in node:
            self._use("rung", node["rung"], self._line, node)
            self.read(node)
        elif isinstance(node, _ADDED_NODES) or _ADDED.intersection(node["classes"]):
            return
        elif isinstance(node, nodes.literal_block):
            self._literal(node)
        elif isinstance(node, nodes.TextElement):
            self._words(node)
        elif "drawing" in node:
            self._use("drawing", node["drawing"], self._line, node)
            self.source.figures.append((self._own(self._line), node["alt"]))
        else:
            self._inside(node)

    def _inside(self, node: nodes.Element) -> None:
        if "gg-try" in node["classes"]:
            self._use("try", "", self._line, node)
        folds = isinstance(node, dropdown_main) or node.get("design_component") == "dropdown"
        self._folds += folds
        self.read(node)
        self._folds -= folds

    def _line_of(self, node: nodes.Element) -> int:
        """Give the line of the text that was read."""
        said = node.line or self._line
        named = (str(node[key]) for key in ("exercise", "kernel", "rungs", "rung") if key in node)
        words = (node.rawsource or next(named, "")).strip().split("\n")[0]
        near = (said, said - 1, said + 1, said - 2, said + 2, said - 3, said + 3)
        within = (line for line in near if 0 < line <= len(self._read))
        return next((line for line in within if words and words in self._read[line - 1]), said)

    def _own(self, line: int) -> int:
        """Give the line of the page; 0 where the build wrote what is there."""
        return line if self._lines is None else self._lines.get(line, 0)

    def _words(self, node: nodes.TextElement) -> None:
        line = self._own(self._line)
        words = " ".join("".join(_words(node)).translate(_PLAIN_QUOTES).split())
        heading = isinstance(node, nodes.title) and isinstance(node.parent, nodes.section)
        if line and (heading or isinstance(node, nodes.paragraph)):
            self.source.said += f"{node.astext().translate(_PLAIN_QUOTES)}\n"
        if line and "gg-answer" in node["classes"]:
            self.source.answer.append(node)
        if not self.source.title and heading:
            self.source.title = words
        elif "gg-question" in node["classes"]:
            self.source.question = words
        elif line and heading:
            self.source.headings.append(Passage(words, line))
        elif line and isinstance(node, nodes.paragraph | nodes.term):
            marked = " ".join("".join(_words(node, _MARK)).split())
            if words:
                self.source.paragraphs.append(Passage(words, line, marked))
        if line:
            self.source.figures.append((line, "".join(_typed(node))))
            self._roles(node)

    def _roles(self, block: nodes.TextElement) -> None:
        if "caption" in block:
            self._use("finding", str(block["caption"]), block["caption"], block)
        at = 0
        for node in block.findall(nodes.Element):
            kind, key = _role(node)
            if not kind:
                continue
            # The name of a role is written differently in MyST, what stands in it is not.
            written = node.rawsource[node.rawsource.find("`") :]
            at = max(block.rawsource.find(written, at), at)
            self._use(kind, key, self._line + block.rawsource.count("\n", 0, at), node)

    def _use(self, kind: str, key: str, read_line: int, node: nodes.Element) -> None:
        self.source.uses.append(Use(kind, key, self._own(read_line), node, self._folds > 0))

    def _shown(self, node: nodes.Element) -> None:
        if "exercise" in node:
            self._use("exercise", node["exercise"], self._line, node)
        else:
            self._use("kernel", node["kernel"], self._line, node)

    def _literal(self, node: nodes.literal_block) -> None:
        """Take in code that stands on a page in MyST; that of a script is known by its cells."""
        if self._lines is not None:
            return
        # myst-nb names the language of a live cell only once it ran.
        if node.get("language") in _PYTHON or "cell_input" in node.parent["classes"]:
            cell = Cell("recorded", len(self.source.code), node.astext(), self._line)
            self.source.code.append(CodeUse(cell))


def _script_lines(text: list[str], cells: list[Cell]) -> dict[int, int]:
    """Give, for the lines of generated text that come from a script's text, those of the script."""
    begins = {cell.lineno for cell in cells if cell.kind == "text"}
    lines: dict[int, int] = {}
    for number, line in enumerate(text, start=1):
        if (found := _GENERATED.match(line)) and int(found[1]) in begins:
            first, end = int(found[1]), int(found[2])
            # An empty line stands between the comment and the text.
            lines |= {number + 2 + i: first + i for i in range(end - first + 1)}
    return lines


def _role(node: nodes.Element) -> tuple[str, str]:
    """Give kind and key of a role of which a rule speaks."""
    if isinstance(node, number_node):
        return node["role"], " ".join(node["key"].split())
    if isinstance(node, nodes.problematic) and "why" in node:
        return "problem", node["why"]
    if isinstance(node, addnodes.pending_xref) and node["reftype"] in ("term", "doc", "ref"):
        return node["reftype"], node["reftarget"]
    if "evidence" in node:
        return "evidence", f"{node['evidence']} {node['of']}".strip()
    return ("rule", node.astext()) if "gg-rule" in node["classes"] else ("", "")


def _words(node: nodes.Node, mark: str = "") -> Iterator[str]:
    """Give what readers see of a text, without literals; a number counts as one word, evidence as none."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif _is_number(child):
            yield "N"
        elif isinstance(child, nodes.Element) and "evidence" in child:
            yield mark
        elif not isinstance(child, _NO_WORDS) and not _is_rung_number(child):
            yield from _words(child, mark)


def _typed(node: nodes.Node) -> Iterator[str]:
    """Give what somebody typed into a text, line by line; roles are left out, titles of pages among them."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif _is_number(child) or isinstance(child, (*_NO_WORDS, addnodes.pending_xref)):
            yield " " + "\n" * child.rawsource.count("\n")
        elif not _is_rung_number(child):
            yield from _typed(child)


def _is_rung_number(node: nodes.Node) -> bool:
    """Tell whether a node is what the build put before the heading of a rung."""
    return isinstance(node, nodes.Element) and "gg-no" in node["classes"]


def _is_number(node: nodes.Node) -> TypeGuard[nodes.Element]:
    if isinstance(node, number_node | nodes.math):
        return True
    return isinstance(node, nodes.Element) and "gg-rule" in node["classes"]
