"""Makes two drawings of ideas, light and dark: ``python docs/drawings/waiting.py``.

What a kernel stores in each turn, and what waits for what in two streams.
"""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write


def registers() -> Drawing:
    """Draw what goes where in each turn: a factor in and a product out, or a factor in and nothing out."""
    d = Drawing(720, 256)
    for top, words in ((0, "in the array"), (134, "in a variable")):
        d.words(14, top + 20, words, anchor="start")
        d.box(14, top + 30, 116, 84, MUTED, "memory")
        d.box(220, top + 30, 100, 84, PURPLE, "L2 cache")
        d.box(500, top + 30, 206, 84, BLUE)
        d.words(603, top + 54, "multiprocessor")
        for x0, x1 in ((134, 216), (324, 496)):
            d.arrow(x0, top + 52, x1, top + 52, ORANGE, width=3)
        d.words(410, top + 42, "factor", colour=ORANGE)
        d.box(530, top + 68, 146, 34, GREEN, "register")
    d.arrow(496, 90, 324, 90, GREEN, width=3)
    d.words(410, 110, "each product", colour=GREEN)
    d.arrow(496, 224, 324, 224, GREEN, dash="4 3")
    d.words(410, 244, "the last one", colour=GREEN)
    return d


def streams() -> Drawing:
    """Draw two streams over time: in one order without an event, and kept in order by one."""
    d = Drawing(720, 270)
    left = 130
    for top, words in ((30, "no event"), (150, "with an event")):
        d.words(14, top + 4, words, anchor="start", colour=MUTED)
        for row, name in enumerate(("stream 1", "stream 2")):
            d.words(14, top + 34 + 46 * row, name, anchor="start")
            d.line(left, top + 50 + 46 * row, 704, top + 50 + 46 * row)
        d.box(left, top + 10, 250, 36, BLUE, "write x")
        d.box(left + 254, top + 10, 150, 36, MUTED, "more work")
    d.box(left, 86, 150, 36, ORANGE, "read x: too early")
    d.box(left + 254, 206, 150, 36, GREEN, "read x")
    d.line(left + 252, 156, left + 252, 250, PURPLE, dash="4 3")
    d.words(left + 246, 234, "wait_event", anchor="end", colour=PURPLE)
    d.words(704, 264, "time", anchor="end", colour=MUTED)
    return d


if __name__ == "__main__":
    write(registers, streams)
