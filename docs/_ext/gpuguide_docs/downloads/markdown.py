"""A page's text, reStructuredText, as Markdown that needs no site."""

from __future__ import annotations

import csv
import posixpath
import re
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from sphinx_gallery.notebook import rst2md

from gpuguide_docs.show.evidence import EVIDENCE
from gpuguide_docs.show.numbers import NOT_MEASURED, claim_of, measured_on, parse_reference, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuguide_docs.show.site import Site

__all__ = ["Block", "Words", "blocks", "fold", "markdown_table", "quoted", "table_rows"]

_DIRECTIVE = re.compile(r"^\.\. (?P<name>[a-z-]+)::(?P<title>.*)(?P<body>(?:\n(?: +\S.*|[ \t]*$))*)", re.M)
_OPTION = re.compile(r":([a-z-]+):(?: +(.*))?")
_ROLE = re.compile(r":([a-z:]+):`([^`]+)`")
_TITLED = re.compile(r"(.*\S)\s*<(.*)>", re.DOTALL)


class Block(NamedTuple):
    """A directive: its name, argument, options and indented text."""

    name: str
    title: str
    options: dict[str, str]
    content: str


def blocks(text: str) -> Iterator[str | Block]:
    """Part a text into plain stretches and directives."""
    end = 0
    for match in _DIRECTIVE.finditer(text):
        yield text[end : match.start()]
        end = match.end()
        lines = textwrap.dedent(match["body"].removeprefix("\n")).splitlines()
        options = {}
        while lines and (option := _OPTION.fullmatch(lines[0])):
            options[option[1]] = option[2] or ""
            del lines[0]
        yield Block(match["name"], match["title"].strip(), options, "\n".join(lines).strip("\n"))
    yield text[end:]


@dataclass
class Words:
    """Writes the text of one document; headings have the levels in which they occur."""

    site: Site
    docname: str
    url: str = ""
    levels: defaultdict[tuple[str | None, str], int] = field(
        default_factory=lambda: defaultdict(count(1).__next__)
    )

    def markdown(self, text: str) -> str:
        """Write a text without directives."""
        text = self._without_roles(text)
        # sphinx-gallery knows named links alone.
        text = text.replace(">`__", ">`_").replace("\\ ", "")
        return str(rst2md(f"{text}\n", {}, "", self.levels)).strip("\n")

    def without_myst_roles(self, text: str) -> str:
        """Write a Markdown text without the roles of MyST."""
        return self._without_roles(re.sub(r"\{([a-z:]+)\}(?=`)", r":\1:", text)).strip("\n")

    def _without_roles(self, text: str) -> str:
        text = re.sub(r"\s*:evidence:`(?!opinion)[^`]*`", "", text)
        return _ROLE.sub(lambda match: self._role(match[1], " ".join(match[2].split())), text)

    def _role(self, role: str, text: str) -> str:
        titled = _TITLED.fullmatch(text)
        title, target = (titled[1], titled[2]) if titled else ("", text)
        if role == "measured":
            return self.number(text)
        if role == "doc":
            return self._page(title, target)
        words = {
            "claimed": lambda: claim_of(self.site.layout.docs / "claims.toml", text)[0],
            "evidence": lambda: f"[{EVIDENCE[text]}]",
            "sup": lambda: f"<sup>{text}</sup>",
            "sub": lambda: f"<sub>{text}</sub>",
            "math": lambda: f"${text}$",
            "abbr": lambda: text.partition(" (")[0],
        }
        return words[role]() if role in words else title or target.lstrip("~!")

    def number(self, key: str) -> str:
        """Write a measured number; one of another page says where that was measured."""
        reference = parse_reference(key)
        own = self.site.page_of(self.docname)
        page = reference.page or (own.name if own else "")
        recording = self.site.recording(self.site.state(page))
        if recording is None:
            return NOT_MEASURED
        text = resolve(reference, recording).text
        # Machine and date of this page's own numbers stand in the first cell.
        is_own = own is not None and page == own.name
        return text if is_own else f"{text} ({measured_on(recording, starts=False)})"

    def _page(self, title: str, target: str) -> str:
        docname = posixpath.normpath(posixpath.join("/", posixpath.dirname(self.docname), target))[1:]
        page = self.site.page_of(docname)
        words = title or (page.title if page else posixpath.basename(docname).replace("_", " "))
        return f"[{words}]({self.url.rstrip('/')}/{docname}.html)" if self.url else words


def fold(title: str, text: str) -> str:
    """Fold a text."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def quoted(text: str) -> str:
    """Write a box."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def table_rows(block: Block) -> list[list[str]]:
    """Read the rows of a list-table or a csv-table, the one with the headings first."""
    if block.name == "list-table":
        rows = [re.split(r"(?m)^  -(?: |$)", row) for row in re.split(r"(?m)^\* -(?: |$)", block.content)[1:]]
    else:
        delimiter = block.options.get("delim", ",")
        head = [block.options["header"]] if "header" in block.options else []
        rows = list(csv.reader([*head, *block.content.splitlines()], delimiter=delimiter))
    return [[" ".join(cell.split()) for cell in row] for row in rows]


def markdown_table(rows: list[list[str]]) -> str:
    """Write a table whose first row holds the headings."""
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
