"""Draws a finding: which thread touched what, as text for a terminal."""

from __future__ import annotations

import textwrap

from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.pictures import MOST, Picture, picture_of
from gpuguide.exercises.simulator.trace import Trace

__all__ = ["draw_text"]

_WORDS = {"r": "reads", "w": "writes", "a": "reads and writes in one atomic step"}
_MARK = "!"


def draw_text(trace: Trace, finding: Finding | str, width: int = 78) -> str:
    """Draw the threads and elements around a finding: threads above, elements below, what is wrong marked.

    Parameters
    ----------
    trace : Trace
        Of the launch.
    finding : Finding or str
        One of its findings, or one that a judge made of an array and an element; or the name of an array,
        to see who writes it where nothing is wrong.
    width : int
        Columns of the terminal.

    Returns
    -------
    str
        Lines without one at the end that is empty; nothing at all where there is nothing to draw.

    Examples
    --------
    >>> from gpuguide.exercises.simulator.memory import View
    >>> from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
    >>> from gpuguide.exercises.simulator.scheduler import run
    >>> from gpuguide.exercises.simulator.source import prepare
    >>> kernel = prepare('''
    ... def shift(x):
    ...     i = cuda.grid(1)
    ...     if i < x.size - 1:
    ...         x[i] = x[i + 1]
    ... ''', usual_imports=True)
    >>> trace = run(kernel, 1, 4, {"x": View.of(NUMBER_TYPES["int64"], range(4), (4,))})
    >>> print(draw_text(trace, trace.findings[0]))
    Which threads touch x in line 5
    thread of block 0  0   1   2
    x[0]               w
    x[1]               r!  w!
    x[2]                   r!  w!
    x[3]                       r
    r reads, w writes; ! one of these writes, and nothing makes it wait for the
    other
    """
    for most in range(MOST, 0, -1):
        drawn = picture_of(trace, finding, most)
        if drawn is None:
            return ""
        rows = _rows(drawn)
        if most == 1 or max(map(len, rows)) <= width:
            heading, legend = (textwrap.wrap(text, width) for text in (drawn.heading, _legend(drawn)))
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
    said = [f"{letter} {word}" for letter, word in _WORDS.items() if letter in used]
    mark = f"{_MARK} {drawn.mark}" if drawn.mark else ""
    return "; ".join(part for part in (", ".join(said), mark) if part)
