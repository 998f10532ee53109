"""Draws a finding as SVG: threads above, elements below, light or dark as the page around it is.

Lines and letters take the colour of the page's text, what is wrong its colour for that. An arrow points to
where the value goes: down for a write, up for a read. Nothing depends on colour alone.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape

from gpuguide.tracer.picture import GAP, NEVER_WRITTEN, Link, Picture

__all__ = ["draw_svg"]

#: Threads, and elements, that are drawn at most.
_MOST = 12
_WRONG = "var(--gg-wrong, #d6453d)"
_FONT = "font-family: ui-monospace, monospace; font-size: 12px"
_WORDS = "font-family: system-ui, sans-serif; font-size: 13px"
_CHARACTER, _MARGIN, _BOX = 7.3, 14.0, 24.0
_TOP, _BOTTOM, _LINE = 58.0, 168.0, 18.0
#: Wide enough for a legend of few lines, and no wider than a phone shows.
_LEAST = 300.0
_DOES = {"r": "reads", "w": "writes", "a": "atomically changes", "x": "stands at"}
_ARROWS = {
    "r": "arrow up: reads",
    "w": "arrow down: writes",
    "a": "diamonds: reads and writes in one atomic step",
}


def draw_svg(make: Callable[[int], Picture | None]) -> str:
    """Draw what `make` gives for so many threads as an ``<svg>`` with a description; empty if nothing."""
    drawn = make(_MOST)
    return "" if drawn is None else _svg(drawn)


def _svg(drawn: Picture) -> str:
    above, below = _boxes(drawn.above), _boxes(drawn.below)
    width = max(above[-1][1], below[-1][1], _CHARACTER * len(drawn.heading) + _MARGIN, _LEAST) + _MARGIN
    words = [
        line for text in _legend(drawn) for line in textwrap.wrap(text, int((width - 2 * _MARGIN) / 6.6))
    ]
    under = _BOTTOM + _BOX + 6
    height = under + _LINE * len(words) + 8
    links = sorted(drawn.links, key=lambda link: link.marked)
    parts = [
        f"<title>{escape(drawn.heading)}</title>",
        f"<desc>{escape(_sentences(drawn))}</desc>",
        _text(_MARGIN, 20, drawn.heading, f"{_WORDS}; font-weight: 600"),
        _text(_MARGIN, 46, drawn.top, f"{_WORDS}; opacity: 0.75"),
        *(part for link in links for part in _joined(link, above, below)),
        *_row(drawn.above, above, _TOP, {link.top for link in links if link.marked}, 12),
        *_row(drawn.below, below, _BOTTOM, _wrong_below(drawn), 2),
        *(_text(_MARGIN, under + _LINE * (n + 1) - 4, line, _WORDS) for n, line in enumerate(words)),
    ]
    body = "\n".join(f"  {part}" for part in parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" fill="currentColor" '
        f'style="max-width: 100%; height: auto">\n{body}\n</svg>'
    )


def _wrong_below(drawn: Picture) -> set[int]:
    """Return the elements whose boxes are marked: with a marked link, or wrong for want of any."""
    missing = {position for position, note in drawn.notes.items() if note == NEVER_WRITTEN}
    return missing | {link.bottom for link in drawn.links if link.marked}


def _boxes(labels: Sequence[str]) -> list[tuple[float, float]]:
    """Return the left and right edge of each label's box."""
    wide = max(34.0, *(_CHARACTER * len(label) + 12 for label in labels if label != GAP))
    edges, left = [], _MARGIN
    for label in labels:
        right = left + (20.0 if label == GAP else wide)
        edges.append((left, right))
        left = right + 8
    return edges


def _row(
    labels: Sequence[str], boxes: list[tuple[float, float]], y: float, marked: set[int], radius: int
) -> Iterator[str]:
    """Draw the boxes of the threads, or of the elements, with their labels."""
    for position, (label, (left, right)) in enumerate(zip(labels, boxes, strict=True)):
        if label != GAP:
            colour, stroke = (_WRONG, 2) if position in marked else ("currentColor", 1)
            yield (
                f'<rect x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" height="{_BOX:.1f}" '
                f'rx="{radius}" fill="none" style="stroke: {colour}" stroke-width="{stroke}"/>'
            )
        yield _text((left + right) / 2, y + 16, label, _FONT, middle=True)


def _joined(link: Link, above: list[tuple[float, float]], below: list[tuple[float, float]]) -> Iterator[str]:
    """Draw the line from a thread to an element, with its arrowheads."""
    start = sum(above[link.top]) / 2, _TOP + _BOX + 2
    end = sum(below[link.bottom]) / 2, _BOTTOM - 2
    colour, width, opacity = (_WRONG, 2.2, 1.0) if link.marked else ("currentColor", 1.2, 0.55)
    dashes = "" if set(link.doing) & {"w", "a", "x"} else ' stroke-dasharray="5 3"'
    yield (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'style="stroke: {colour}" stroke-width="{width}" opacity="{opacity}"{dashes}/>'
    )
    for tip, tail, doing in ((end, start, "wa"), (start, end, "ra")):
        if set(doing) & set(link.doing):
            points = _head(tip, tail, diamond="a" in link.doing)
            yield f'<polygon points="{points}" style="fill: {colour}" opacity="{max(opacity, 0.8)}"/>'


def _head(tip: tuple[float, float], tail: tuple[float, float], *, diamond: bool) -> str:
    """Return the corners of an arrowhead, or of the diamond of an atomic operation."""
    across, down = tail[0] - tip[0], tail[1] - tip[1]
    length = math.hypot(across, down)
    x, y = across / length, down / length
    behind = [(16.0, 0.0)] if diamond else []
    corners = [(0.0, 0.0), (8.0, 3.6), *behind, (8.0, -3.6)]
    return " ".join(
        f"{tip[0] + x * far - y * off:.1f},{tip[1] + y * far + x * off:.1f}" for far, off in corners
    )


def _text(x: float, y: float, text: str, style: str, *, middle: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{anchor} style="{style}">{escape(text, quote=False)}</text>'


def _legend(drawn: Picture) -> list[str]:
    """Return what arrows and colour mean, and what is to be said of single elements."""
    used = {letter for link in drawn.links for letter in link.doing}
    parts = [words for letter, words in _ARROWS.items() if letter in used]
    parts += [f"thick and coloured: {drawn.mark}"] if drawn.mark else []
    return ["; ".join(parts), "; ".join(_notes(drawn))]


def _notes(drawn: Picture) -> list[str]:
    return [f"{drawn.below[position]}: {note}" for position, note in sorted(drawn.notes.items())]


def _sentences(drawn: Picture) -> str:
    """Return the links as sentences, for those who do not see the picture."""
    sentences = []
    for link in drawn.links:
        does = " and ".join(_DOES[letter] for letter in link.doing)
        marked = f" ({drawn.mark})" if link.marked else ""
        sentences.append(f"Thread {drawn.above[link.top]} {does} {drawn.below[link.bottom]}{marked}.")
    return " ".join([*sentences, *(f"{note}." for note in _notes(drawn))])
