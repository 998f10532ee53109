"""How long a page takes to read, computed from what is open on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx_design.dropdown import dropdown_main

from gpuguide.errors import GpuGuideError
from gpuguide_docs.show.exercise_pool import find_exercise
from gpuguide_docs.show.numbers import number_node

if TYPE_CHECKING:
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["Reading", "exercise_minutes", "n_words", "open_lines", "reading_of"]

_WORDS_PER_MINUTE = 180
_LINES_PER_MINUTE = 12
_SECONDS_PER_PICTURE = 10
_PYTHON = ("python", "Python", "c++", "cuda")
_PROSE = (nodes.paragraph, nodes.title, nodes.caption, nodes.term, nodes.rubric)
#: A cell of a table with so many words is read like a paragraph; shorter ones are looked over.
_WORDS_OF_A_SENTENCE = 8
#: Classes of what takes time to look at: charts and drawings, strips, tables of rungs.
_PICTURES = frozenset(("gg-chart", "gg-strip", "gg-rungs"))
_NOT_READ = (nodes.comment, nodes.raw, nodes.system_message, dropdown_main)
_NOT_READ_TEXT = "gg-exercise gg-kernel-origin recorded-output page-stale page-unmeasured"
_NOT_READ_CLASSES = frozenset(_NOT_READ_TEXT.split())


@dataclass(frozen=True)
class Reading:
    """What stands open on a page."""

    words: int = 0
    code_lines: int = 0
    pictures: int = 0
    lines_read: float = 0.0
    words_in_tables: int = 0

    @property
    def minutes(self) -> int:
        """Minutes that it takes to read: at least 1."""
        seconds = self.pictures * _SECONDS_PER_PICTURE
        words = self.words + self.words_in_tables
        minutes = words / _WORDS_PER_MINUTE + self.lines_read / _LINES_PER_MINUTE + seconds / 60
        return max(1, round(minutes))


def reading_of(document: nodes.Element) -> Reading:
    """Count what there is to read on a page: words, open lines of code, and pictures."""
    words, code_lines, pictures, lines_read, words_in_tables = 0, 0, 0, 0.0, 0
    for node in _read(document):
        if isinstance(node, _PROSE):
            words += n_words(node)
        elif isinstance(node, nodes.literal_block):
            weights = [weight for _, weight in open_lines(node)]
            code_lines += len(weights)
            lines_read += sum(weights)
        else:
            pictures += 1
            if isinstance(node, nodes.table):
                cells = (n_words(cell) for cell in node.findall(nodes.paragraph))
                words_in_tables += sum(n for n in cells if n >= _WORDS_OF_A_SENTENCE)
    return Reading(words, code_lines, pictures, lines_read, words_in_tables)


def exercise_minutes(page: Page) -> int:
    """Add up the minutes of a page's exercises."""
    minutes = 0
    for name in page.exercises:
        try:
            minutes += find_exercise(name).minutes
        except GpuGuideError:
            continue
    return minutes


def _read(node: nodes.Element) -> Iterator[nodes.Element]:
    """Give the prose, code and pictures that stand open, each once."""
    for child in node.children:
        if not isinstance(child, nodes.Element) or isinstance(child, _NOT_READ):
            continue
        if child.get("design_component") == "dropdown":
            continue
        classes = set(child["classes"])
        if _NOT_READ_CLASSES & classes:
            continue
        is_picture = isinstance(child, nodes.table) or "drawing" in child or _PICTURES & classes
        if is_picture or isinstance(child, (*_PROSE, nodes.literal_block)):
            yield child
        else:
            yield from _read(child)


def n_words(text: nodes.Node) -> int:
    """Count the words of a text."""
    parts = (part.astext().split() if isinstance(part, nodes.Text) else ["1"] for part in _parts(text))
    return sum(any(letter.isalnum() for letter in word) for words in parts for word in words)


def _parts(node: nodes.Node) -> Iterator[nodes.Node]:
    for child in node.children:
        if isinstance(child, nodes.Text | number_node):
            yield child
        else:
            yield from _parts(child)


def open_lines(code: nodes.literal_block) -> Iterator[tuple[int, float]]:
    """Give the lines of code that stand open and are not blank."""
    if code.get("language") not in _PYTHON:
        return
    changed: set[int] = set(code.get("changed", ()))
    for number, line in enumerate(code.astext().splitlines(), start=1):
        if line.strip() and (not changed or number in code["open"]):
            yield number, 1 if number in changed or not changed else 0.25
