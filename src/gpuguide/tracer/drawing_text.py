"""Draws a picture as text: threads above, elements below, what is wrong marked."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from gpuguide.tracer.picture import Picture

__all__ = ["draw_text"]

_MOST = 16
_WIDTH = 78
_WORDS = {"r": "reads", "w": "writes", "a": "reads and writes in one atomic step"}
_MARK = "!"


def draw_text(make: Callable[[int], Picture | None]) -> str:
    """Draw what `make` gives for so many threads, with as many as a line holds; empty if that is nothing."""
    for most in range(_MOST, 0, -1):
        drawn = make(most)
        if drawn is None:
            return ""
        rows = _rows(drawn)
        if most == 1 or max(map(len, rows)) <= _WIDTH:
            heading, legend = (textwrap.wrap(text, _WIDTH) for text in (drawn.heading, _legend(drawn)))
            return "\n".join([*heading, *rows, *legend])
    return ""


def _rows(drawn: Picture) -> list[str]:
    """Return a line with the threads, and one for each element."""
    left = max(len(label) for label in (drawn.top, *drawn.below)) + 2
    cell = max(4, *(len(label) + 2 for label in drawn.above))
    rows = [drawn.top.ljust(left) + "".join(label.ljust(cell) for label in drawn.above)]
    for bottom, label in enumerate(drawn.below):
        done = {link.top: link for link in drawn.links if link.bottom == bottom}
        cells = [
            f"{done[top].doing}{_MARK if done[top].marked else ''}" if top in done else ""
            for top in range(len(drawn.above))
        ]
        line = label.ljust(left) + "".join(each.ljust(cell) for each in cells)
        note = drawn.notes.get(bottom)
        rows.append(f"{line.rstrip()}  ({note})" if note else line)
    return [row.rstrip() for row in rows]


def _legend(drawn: Picture) -> str:
    used = {letter for link in drawn.links for letter in link.doing}
    words = [f"{letter} {word}" for letter, word in _WORDS.items() if letter in used]
    mark = f"{_MARK} {drawn.mark}" if drawn.mark else ""
    return "; ".join(part for part in (", ".join(words), mark) if part)
