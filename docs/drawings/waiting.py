"""Makes two drawings of ideas, light and dark: ``python docs/drawings/waiting.py``.

What a kernel stores in each turn, and what waits for what in two streams.
"""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, GREEN, MUTED, ORANGE, PURPLE, Drawing

from gpuguide.charts.style import to_dark


def registers() -> Drawing:
    """Draw what goes where in each turn: a factor in and a product out, or a factor in and nothing out."""
    d = Drawing(720, 270)
    for top, words in ((0, "in the array"), (128, "in a variable")):
        d.words(14, top + 66, words, anchor="start", size=16)
        d.box(140, top + 30, 110, 84, MUTED, "memory", size=16)
        d.box(330, top + 30, 110, 84, PURPLE, "L2 cache", size=16)
        d.box(560, top + 30, 146, 84, BLUE)
        d.words(633, top + 54, "multiprocessor", size=15)
        for x0, x1 in ((254, 326), (444, 556)):
            d.arrow(x0, top + 52, x1, top + 52, ORANGE, width=3)
        d.words(500, top + 42, "factor", size=15, colour=ORANGE)
        d.box(578, top + 68, 110, 34, GREEN, "register", size=15)
    d.arrow(556, 90, 444, 90, GREEN, width=3)
    d.words(500, 110, "each product", size=15, colour=GREEN)
    d.arrow(556, 218, 444, 218, GREEN, dash="4 3")
    d.words(500, 238, "the last one", size=15, colour=GREEN)
    return d


def streams() -> Drawing:
    """Draw two streams over time: in one order without an event, and kept in order by one."""
    d = Drawing(720, 270)
    left = 130
    for top, words in ((30, "no event"), (150, "with an event")):
        d.words(14, top + 4, words, anchor="start", size=16, colour=MUTED)
        for row, name in enumerate(("stream 1", "stream 2")):
            d.words(14, top + 34 + 46 * row, name, anchor="start", size=16)
            d.line(left, top + 50 + 46 * row, 704, top + 50 + 46 * row)
        d.box(left, top + 10, 250, 36, BLUE, "write x", size=16)
        d.box(left + 254, top + 10, 150, 36, MUTED, "more work", size=16)
    d.box(left, 86, 150, 36, ORANGE, "read x: too early", size=15)
    d.box(left + 254, 206, 150, 36, GREEN, "read x", size=16)
    d.line(left + 252, 156, left + 252, 250, PURPLE, dash="4 3")
    d.words(left + 246, 234, "wait_event", anchor="end", size=15, colour=PURPLE)
    d.words(704, 264, "time", anchor="end", size=16, colour=MUTED)
    return d


def main() -> None:
    """Write the two drawings and their dark twins."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (registers, streams):
        svg = make().svg()
        (FOLDER / f"{make.__name__}.svg").write_text(svg, encoding="utf-8")
        (FOLDER / f"{make.__name__}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
