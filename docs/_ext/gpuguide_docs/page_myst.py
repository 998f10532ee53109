"""A page written in MyST as the contract sees it: read by MyST's own parser, nothing of it executed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING

from gpuguide_docs.cells import Cell
from gpuguide_docs.page_source import (
    CodeUse,
    DirectiveUse,
    Heading,
    PageSource,
    Paragraph,
    RoleUse,
    shown_words,
)
from gpuguide_docs.prose import PROSE_DIRECTIVES, prose_lines

if TYPE_CHECKING:
    from pathlib import Path

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["read_myst"]

_EXTENSIONS = frozenset(("attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"))
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*)", re.DOTALL)
_OPTION = re.compile(r"\s*:(?P<name>[\w-]+):\s*(?P<value>.*)")
_SHOWN = ("kernel", "install-command")
_PYTHON = ("python", "py", "ipython", "ipython3")


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
    _Reader(source).read(text, 1)
    if source.paragraphs:
        source.question = source.paragraphs.pop(0).text
        source.order.pop(0)
    return source


class _Reader:
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
        directive = _DIRECTIVE.fullmatch(token.info.strip())
        if directive is None:
            self._code(token.info.split(maxsplit=1)[:1], token.content, line + 1)
            return
        lines = token.content.splitlines()
        options = [found for found in takewhile(bool, map(_OPTION.fullmatch, lines)) if found]
        content = "\n".join(lines[len(options) :])
        name, argument = directive["name"], directive["argument"].strip()
        named = {option["name"]: option["value"] for option in options}
        self._source.directives.append(DirectiveUse(name, argument, named, content.strip(), line, ()))
        if name in ("code-block", "testcode"):
            self._code([argument or "python"], content, line + 1)
        elif name in _SHOWN:
            self._source.order.append("code")
        elif name in PROSE_DIRECTIVES:
            self.read(argument, line)
            self.read(content, line + 1 + len(options))

    def _code(self, language: list[str], code: str, line: int) -> None:
        self._source.order.append("code")
        if language and language[0] in _PYTHON:
            self._source.code.append(CodeUse(Cell("recorded", len(self._source.code), code, line), ()))


def _parser() -> MarkdownIt:
    # Imported here: the recorder reads pages, too, and its machine need not have MyST.
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig
    from myst_parser.parsers.mdit import create_md_parser

    return create_md_parser(MdParserConfig(enable_extensions=set(_EXTENSIONS)), RendererHTML)
