"""How long a page takes to read, worked out from what stands open on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx_design.dropdown import dropdown_main

from gpuguide.errors import GpuGuideError
from gpuguide_docs.show.exercise_pool import find_exercise
from gpuguide_docs.show.numbers import number_node

if TYPE_CHECKING:
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["exercise_minutes", "reading_minutes"]

_WORDS_PER_MINUTE = 180
_LINES_PER_MINUTE = 12
_SECONDS_PER_PICTURE = 10
_PYTHON = ("python", "Python", "c++", "cuda")
_PROSE = (nodes.paragraph, nodes.title, nodes.caption, nodes.term, nodes.rubric)
#: Classes of what the eye rests on for a while: charts and drawings, strips, tables of rungs.
_PICTURES = frozenset(("gg-chart", "gg-strip", "gg-rungs"))
_NOT_READ = (nodes.comment, nodes.raw, nodes.system_message, dropdown_main)
_NOT_READ_CLASSES = frozenset(("gg-kernel-origin", "recorded-output", "page-stale", "page-unmeasured"))


def reading_minutes(document: nodes.Element) -> int:
    """Work out the minutes that a page takes: words, open lines of code, and pictures.

    Parameters
    ----------
    document : docutils.nodes.Element
        The page, before byline and card are put on it.

    Returns
    -------
    int
        At least 1. What is folded does not count, nor do exercises.
    """
    words, lines, pictures = 0, 0.0, 0
    for node in _read(document):
        if isinstance(node, _PROSE):
            words += sum(1 if isinstance(part, number_node) else _n_words(part) for part in _parts(node))
        elif isinstance(node, nodes.literal_block):
            lines += _n_lines(node) if node.get("language") in _PYTHON else 0
        else:
            pictures += 1
    minutes = words / _WORDS_PER_MINUTE + lines / _LINES_PER_MINUTE + pictures * _SECONDS_PER_PICTURE / 60
    return max(1, round(minutes))


def exercise_minutes(page: Page) -> int:
    """Add up the minutes of a page's exercises.

    Parameters
    ----------
    page : Page
        With their names; one that is not in the pool counts nothing, because its directive says so.

    Returns
    -------
    int
        0 for a page without any.
    """
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
        if not isinstance(child, nodes.Element) or isinstance(child, _NOT_READ) or "exercise" in child:
            continue
        classes = set(child["classes"])
        if _NOT_READ_CLASSES & classes:
            continue
        is_picture = isinstance(child, nodes.table) or "drawing" in child or _PICTURES & classes
        if is_picture or isinstance(child, (*_PROSE, nodes.literal_block)):
            yield child
        else:
            yield from _read(child)


def _parts(node: nodes.Node) -> Iterator[nodes.Node]:
    for child in node.children:
        if isinstance(child, nodes.Text | number_node):
            yield child
        else:
            yield from _parts(child)


def _n_lines(code: nodes.literal_block) -> float:
    """Count lines with code. Of a kernel whose changed lines are marked, other open ones count a quarter."""
    changed: set[int] = set(code.get("changed", ()))
    weights: dict[int, float] = {
        number: 1 if number in changed or not changed else 0.25
        for number, line in enumerate(code.astext().splitlines(), start=1)
        if line.strip() and (not changed or number in code["open"])
    }
    return sum(weights.values())


def _n_words(text: nodes.Node) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in text.astext().split())
