"""Makes two drawings of ideas, light and dark: ``python docs/drawings/waiting.py``.

Loads that wait for a store or for each other, and kernels that wait in one stream or in two.
"""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, GREEN, MUTED, ORANGE, PURPLE, Drawing

from gpuguide.charts.style import to_dark


def registers() -> Drawing:
    """Draw a thread over time: a load, a product and a store in turn, or four loads at once."""
    d = Drawing(720, 270)
    left, wait, step = 150, 160, 208
    d.words(20, 50, "a store", anchor="start", size=16)
    d.words(20, 70, "in between", anchor="start", size=16)
    for i in range(2):
        x = left + i * step
        d.box(x, 36, wait, 40, BLUE, f"load {i + 1}", size=16)
        d.box(x + wait + 2, 36, 18, 40, ORANGE)
        d.box(x + wait + 22, 36, 18, 40, GREEN)
    d.box(left + 2 * step, 36, 130, 40, BLUE, "load 3 ...", size=16)
    d.words(20, 156, "four loads", anchor="start", size=16)
    d.words(20, 176, "at a time", anchor="start", size=16)
    for load in range(4):
        d.box(left + load * 8, 112 + load * 26, wait, 22, BLUE, f"load {load + 1}", size=15)
        d.box(left + wait + 34 + load * 20, 112 + load * 26, 18, 22, ORANGE)
    d.box(left + wait + 116, 112, 130, 22, BLUE, "load 5 ...", size=15)
    d.line(left, 226, 700, 226)
    d.arrow(690, 226, 704, 226)
    d.words(left, 250, "waiting for memory", colour=BLUE, anchor="start", size=16)
    d.words(left + 190, 250, "multiply", colour=ORANGE, anchor="start", size=16)
    d.words(left + 290, 250, "store", colour=GREEN, anchor="start", size=16)
    d.words(704, 250, "time", anchor="end", size=16, colour=MUTED)
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
