"""Makes the drawing of a good benchmark's steps, light and dark: ``python docs/drawings/benchmarks.py``."""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write

_WIDTH, _HEIGHT, _SIZE = 148, 66, 17
# Left, top, two lines, colour, the mistakes made at this step: there and back again, so that all is legible.
_STEPS = (
    (16, 66, "call once,", "not timed", MUTED, "2"),
    (204, 66, "put the", "data back", PURPLE, "5"),
    (380, 66, "read", "other data", PURPLE, "4"),
    (556, 66, "start", "the clock", ORANGE, ""),
    (556, 188, "the call", "", GREEN, ""),
    (380, 188, "wait", "", BLUE, "1"),
    (204, 188, "stop", "the clock", ORANGE, ""),
)


def benchmark_well() -> Drawing:
    """Draw a call that is not timed, then six steps in a loop, and which mistake is made at which step."""
    d = Drawing(720, 292)
    d.words(16, 28, "orange: the mistake made at this step", colour=MUTED, anchor="start")
    for left, top, first, second, colour, mistake in _STEPS:
        middle = left + _WIDTH / 2
        d.box(left, top, _WIDTH, _HEIGHT, colour)
        d.words(middle, top + (28 if second else 39), first)
        d.words(middle, top + 50, second)
        d.words(middle, top - 9 if top < 100 else top + _HEIGHT + 24, mistake, colour=ORANGE)
    d.arrow(166, 99, 200, 99)
    for right in (354, 530):
        d.arrow(right, 99, right + 22, 99)
        d.arrow(right + 24, 221, right + 2, 221)
    d.arrow(630, 134, 630, 184)
    d.arrow(278, 184, 278, 136)
    d.words(196, 208, "many samples,", anchor="end")
    d.words(196, 230, "their median", anchor="end")
    d.words(122, 260, "3", colour=ORANGE)
    return d


if __name__ == "__main__":
    write(benchmark_well)
