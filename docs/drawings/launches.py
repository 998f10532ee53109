"""Makes the drawings of launches and of one operation's loops: ``python docs/drawings/launches.py``."""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, GREEN, MUTED, ORANGE, PURPLE, Drawing

from gpuguide.charts.style import to_dark


def maximum_cpu() -> Drawing:
    """Sixteen elements: one at a time in Python, all in one instruction, and in parts for two threads."""
    d = Drawing(720, 266)
    left, width = 108, 38
    steps = (ORANGE, ORANGE, ORANGE, BLUE)
    d.words(10, 54, "Python", anchor="start", size=17)
    for i in range(16):
        x = left + i * width
        d.box(x, 20, width - 4, 56, MUTED)
        for step, colour in enumerate(steps):
            d.box(x + 4, 25 + step * 12, width - 12, 9, colour)
    d.words(left, 102, "orange: find the element, its type, the operation", **_NOTE)
    d.words(left, 124, "blue and green: compare", **_NOTE)
    d.words(10, 174, "compiled", anchor="start", size=17)
    d.box(left, 148, 16 * width - 4, 40, BLUE, "one instruction compares sixteen neighbours", size=17)
    d.words(10, 232, "threads", anchor="start", size=17)
    d.box(left, 206, 8 * width - 4, 40, BLUE, "thread 0 has one part", size=17)
    d.box(left + 8 * width, 206, 8 * width - 4, 40, GREEN, "thread 1 has the other", size=17)
    return d


def launch_sizes() -> Drawing:
    """One thread over time: two loads and a wait, or eight loads that share one wait."""
    d = Drawing(720, 270)
    left, wait = 150, 250
    d.words(20, 58, "one element", anchor="start")
    d.words(20, 76, "per thread", anchor="start")
    for i in range(2):
        x = left + i * (wait + 40)
        d.box(x, 38, 16, 42, ORANGE)
        for load in range(2):
            d.box(x + 20 + load * 6, 42 + load * 18, wait - 40, 14, BLUE)
        d.box(x + wait - 12, 38, 16, 42, GREEN)
    d.words(left + wait + 18, 104, "the next thread begins when this one is gone", size=16, colour=MUTED)
    d.words(20, 158, "four elements", anchor="start")
    d.words(20, 176, "per thread", anchor="start")
    d.box(left, 124, 16, 100, ORANGE)
    for load in range(8):
        d.box(left + 20 + load * 6, 126 + load * 12, wait - 40, 10, BLUE)
    for store in range(4):
        d.box(left + wait + 30 + store * 20, 124, 16, 100, GREEN)
    d.line(left, 236, 700, 236)
    d.arrow(690, 236, 704, 236)
    d.words(left, 258, "start", colour=ORANGE, anchor="start", size=16)
    d.words(left + 70, 258, "loads in flight", colour=BLUE, anchor="start", size=16)
    d.words(left + 290, 258, "stores", colour=GREEN, anchor="start", size=16)
    d.words(704, 258, "time", anchor="end", size=16, colour=MUTED)
    return d


def launch_overhead() -> Drawing:
    """Three hosts over time: a launch, a launch that exports arrays first, and one that waits."""
    d = Drawing(720, 300)
    d.words(20, 47, "view,", anchor="start")
    d.words(20, 65, "made once", anchor="start")
    parts = (("kernel and grid", 112, BLUE), ("arguments", 84, PURPLE), ("driver", 64, GREEN))
    x = 160.0
    for words, width, colour in parts:
        d.box(x, 34, width, 34, colour, words, size=12)
        x += width + 2
    d.words(20, 116, "CuPy arrays", anchor="start")
    x = 160.0
    for words, width, colour in (
        ("kernel and grid", 112, BLUE),
        *[("export", 52, ORANGE)] * 3,
        ("arguments", 84, PURPLE),
        ("driver", 64, GREEN),
    ):
        d.box(x, 94, width, 34, colour, words, size=12)
        x += width + 2
    d.words(20, 176, "view each", anchor="start")
    d.words(20, 192, "time, waiting", anchor="start")
    x = 160.0
    for words, width, colour in (
        ("view", 42, ORANGE),
        ("waits until the queue is empty", 300, MUTED),
        ("view", 42, ORANGE),
        ("view", 42, ORANGE),
        ("launch", 84, BLUE),
    ):
        d.box(x, 154, width, 34, colour, words, size=12)
        x += width + 2
    d.words(20, 246, "device", anchor="start")
    d.box(160, 224, 344, 34, MUTED, "work that was queued before", size=12)
    d.arrow(504, 222, 504, 192, MUTED, dash="4 3")
    d.line(160, 274, 700, 274)
    d.arrow(690, 274, 704, 274)
    d.words(704, 292, "time", anchor="end", size=12, colour=MUTED)
    return d


_NOTE = {"size": 16, "colour": MUTED, "anchor": "start"}


def main() -> None:
    """Write the drawings and their dark twins."""
    for make in (maximum_cpu, launch_sizes, launch_overhead):
        svg = make().svg()
        (FOLDER / f"{make.__name__}.svg").write_text(svg, encoding="utf-8")
        (FOLDER / f"{make.__name__}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
