"""The prose of a page as it is written, in reStructuredText or Markdown: paragraphs with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Paragraph", "markdown_paragraphs", "rst_paragraphs", "without_markup"]

_NOT_PROSE = ("code-block", "math", "raw", "parsed-literal", "code-cell", "toctree")
_RST_DIRECTIVE = re.compile(r"\.\. (?:([\w-]+)::|_[^:]*:|\[|\|)\s?(.*)")
_OPTION = re.compile(r"\s*:[\w-]+:(\s|$)")
_RULE = re.compile(r"\s*([^\w\s])\1{2,}\s*$")
_ITEM = re.compile(r"\s*([*-]|\d+\.|#\.)\s")
_FENCE = re.compile(r"\s*(`{3,}|~{3,}|:{3,})\s*(?:\{([\w-]+)\})?(.*)$")
_MARKUP = re.compile(
    r":[A-Za-z][\w:+.-]*:`[^`]*`|\{[A-Za-z][\w:+.-]*\}`[^`]*`|``[^`]*(?:`[^`]+)*``|`[^`]+`_{0,2}"
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, heading or item: its first line in the file, and its text with line breaks and markup."""

    line: int
    text: str


def without_markup(text: str, word: str = " ") -> str:
    """Put a word in the place of each role and literal, and leave out addresses; line breaks stay.

    >>> without_markup("Takes {measured}`f` on [x](y).", "N")
    'Takes N on x.'
    """
    plain = _MARKUP.sub(lambda match: word + "\n" * match.group().count("\n"), text)
    return _LINK.sub(lambda match: match[1], plain)


def _paragraphs(lines: Iterator[tuple[int, str]]) -> Iterator[Paragraph]:
    """Join lines; a blank one ends a paragraph, an item begins one, underlines and options are none."""
    first, kept = 0, list[str]()
    for number, line in lines:
        skipped = not line.strip() or _RULE.match(line) or _OPTION.match(line)
        if kept and (skipped or _ITEM.match(line)):
            yield Paragraph(first, "\n".join(kept))
            kept = []
        if not skipped:
            first = first if kept else number
            kept.append(line.strip())
    if kept:
        yield Paragraph(first, "\n".join(kept))


def rst_paragraphs(text: str, first: int = 1) -> list[Paragraph]:
    """Give the prose of reStructuredText whose first line has this number; code and comments are left out."""
    return list(_paragraphs(_rst_lines(text, first)))


def _rst_lines(text: str, first: int) -> Iterator[tuple[int, str]]:
    skipped_below: int | None = None
    for number, line in enumerate(text.split("\n"), start=first):
        indent = len(line) - len(line.lstrip())
        if skipped_below is not None and (not line.strip() or indent > skipped_below):
            yield number, ""
            continue
        skipped_below = None
        if line.lstrip().startswith(".. "):
            match = _RST_DIRECTIVE.match(line.lstrip())
            if match is None or match[1] in _NOT_PROSE:
                skipped_below = indent
            yield number, ""
            if match and match[2] and skipped_below is None:
                yield number, match[2]
                yield number, ""
            continue
        if line.rstrip().endswith("::"):
            skipped_below = indent
        yield number, line


def markdown_paragraphs(text: str, first: int = 1) -> list[Paragraph]:
    """Give the prose of Markdown; fences of code are left out, those of directives are not."""
    return list(_paragraphs(_markdown_lines(text, first)))


def _markdown_lines(text: str, first: int) -> Iterator[tuple[int, str]]:
    open_fences: list[tuple[str, bool]] = []
    lines = text.split("\n")
    front = lines.index("---", 1) + 1 if lines[0] == "---" and "---" in lines[1:] else 0
    for number, line in enumerate(lines[front:], start=first + front):
        in_code = bool(open_fences) and open_fences[-1][1]
        match = _FENCE.match(line)
        if match is None:
            yield number, "" if in_code else line
            continue
        fence, name, rest = match[1], match[2], match[3].strip()
        if open_fences and line.strip() == fence and fence.startswith(open_fences[-1][0]):
            open_fences.pop()
        elif not in_code:
            open_fences.append((fence, not name or name in _NOT_PROSE))
            if name and name not in _NOT_PROSE:
                yield number, rest
        yield number, ""
