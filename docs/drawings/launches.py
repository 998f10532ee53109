"""Makes the drawings of launches and of one operation's loops: ``python docs/drawings/launches.py``."""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write


def maximum_cpu() -> Drawing:
    """Sixteen elements: one at a time in Python, all in one instruction, and in parts for two threads."""
    d = Drawing(720, 266, labels=106)
    left, width = 108, 38
    steps = (ORANGE, ORANGE, ORANGE, BLUE)
    d.words(10, 54, "Python", anchor="start")
    for i in range(16):
        x = left + i * width
        d.box(x, 20, width - 4, 56, MUTED)
        for step, colour in enumerate(steps):
            d.box(x + 4, 25 + step * 12, width - 12, 9, colour)
    d.words(left, 102, "orange: find element, type, operation", **_NOTE)
    d.words(left, 124, "blue and green: compare", **_NOTE)
    d.words(10, 174, "compiled", anchor="start")
    d.box(left, 148, 16 * width - 4, 40, BLUE, "one instruction compares sixteen neighbours")
    d.words(10, 232, "threads", anchor="start")
    d.box(left, 206, 8 * width - 4, 40, BLUE, "thread 0 has one part")
    d.box(left + 8 * width, 206, 8 * width - 4, 40, GREEN, "thread 1 has the other")
    return d


def launch_sizes() -> Drawing:
    """One thread over time: two loads and a wait, or eight loads that share one wait."""
    d = Drawing(720, 270, labels=148)
    left, wait = 150, 250
    d.words(20, 58, "one element", anchor="start")
    d.words(20, 76, "per thread", anchor="start")
    for i in range(2):
        x = left + i * (wait + 40)
        d.box(x, 38, 16, 42, ORANGE)
        for load in range(2):
            d.box(x + 20 + load * 6, 42 + load * 18, wait - 40, 14, BLUE)
        d.box(x + wait - 12, 38, 16, 42, GREEN)
    d.words(left + wait + 18, 104, "only then the next thread", colour=MUTED)
    d.words(20, 158, "four elements", anchor="start")
    d.words(20, 176, "per thread", anchor="start")
    d.box(left, 124, 16, 100, ORANGE)
    for load in range(8):
        d.box(left + 20 + load * 6, 126 + load * 12, wait - 40, 10, BLUE)
    for store in range(4):
        d.box(left + wait + 30 + store * 20, 124, 16, 100, GREEN)
    d.line(left, 236, 700, 236)
    d.arrow(690, 236, 704, 236)
    d.words(left, 258, "start", colour=ORANGE, anchor="start")
    d.words(left + 88, 258, "loads in flight", colour=BLUE, anchor="start")
    d.words(left + 290, 258, "stores", colour=GREEN, anchor="start")
    d.words(704, 258, "time", anchor="end", colour=MUTED)
    return d


def launch_overhead() -> Drawing:
    """Three hosts over time: a launch, a launch that exports arrays first, and one that waits."""
    d = Drawing(720, 330, labels=150)
    arguments, driver, grid = (84, PURPLE, ""), (64, GREEN, ""), (112, BLUE, "")
    view = (42, ORANGE, "")
    rows = (
        (("view,", "made once"), (grid, arguments, driver)),
        (("CuPy arrays",), (grid, *[(52, ORANGE, "")] * 3, arguments, driver)),
        (
            ("view each", "time, waiting"),
            (view, (300, MUTED, "waits for the queue"), view, view, (84, BLUE, "")),
        ),
    )
    for row, (words, parts) in enumerate(rows):
        top = 30 + row * 60
        for line, said in enumerate(words):
            d.words(12, top + (22 if len(words) == 1 else 14) + line * 18, said, anchor="start")
        x = 160.0
        for width, colour, inside in parts:
            d.box(x, top, width, 34, colour, inside)
            x += width + 2
    d.words(12, 232, "device", anchor="start")
    d.box(160, 210, 344, 34, MUTED, "work queued before")
    d.arrow(504, 208, 504, 188, MUTED, dash="4 3")
    d.line(160, 262, 700, 262)
    d.arrow(690, 262, 704, 262)
    d.words(704, 280, "time", anchor="end", colour=MUTED)
    for x, words, colour in (
        (12, "kernel and grid", BLUE),
        (190, "export, view", ORANGE),
        (380, "arguments", PURPLE),
        (560, "driver", GREEN),
    ):
        d.words(x, 314, words, colour=colour, anchor="start")
    return d


_NOTE = {"colour": MUTED, "anchor": "start"}


if __name__ == "__main__":
    write(maximum_cpu, launch_sizes, launch_overhead)
