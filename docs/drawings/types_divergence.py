"""Makes two drawings of ideas, light and dark: ``python docs/drawings/types_divergence.py``.

Where 64 bits get into a kernel on 32-bit arrays, and what a warp does whose threads disagree.
"""

from __future__ import annotations

from make_drawings import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, Drawing, write

_NARROW, _WIDE = 20, 40  # heights of 32 and 64 bits
_NOTE = {"colour": MUTED, "anchor": "start"}
_THREADS, _LANE = 8, 13


def numba_types() -> Drawing:
    """Draw three ways from kept[i] to level[i]: widened once, widened for each dose, never widened."""
    d = Drawing(720, 300)
    rows = (
        ("Python floats", ((500, True, "all doses in 64 bits"),)),
        ("rounded steps", (*((60, True, "dose"), (40, False, "")) * 4, (68, True, "dose"))),
        ("float32 only", ((500, False, "all doses in 32 bits"),)),
    )
    for number, (name, parts) in enumerate(rows):
        middle = 66 + number * 84
        d.words(20, middle - 32, name, anchor="start")
        _bits(d, 20, middle, 92, wide=False, words="kept[i]")
        x = 116.0
        for width, wide, words in parts:
            _bits(d, x, middle, width, wide=wide, words=words)
            x += width + 4
        _bits(d, 620, middle, 92, wide=False, words="level[i]")
    d.box(20, 276, 20, _NARROW / 2, BLUE)
    d.words(48, 286, "32 bits", **_NOTE)
    d.box(180, 271, 20, _WIDE / 2, ORANGE)
    d.words(208, 286, "64 bits", **_NOTE)
    return d


def _bits(d: Drawing, x: float, middle: float, width: float, *, wide: bool, words: str) -> None:
    height, colour = (_WIDE, ORANGE) if wide else (_NARROW, BLUE)
    d.box(x, middle - height / 2, width, height, colour, words)


def divergence() -> Drawing:
    """Draw eight threads over time: both kinds mixed, each warp of one kind, and a loop of many lengths."""
    d = Drawing(720, 300)
    first, second = [t % 2 == 0 for t in range(_THREADS)], [t % 2 == 1 for t in range(_THREADS)]
    d.words(20, 26, "mixed warps", anchor="start")
    _side(d, 20, 40, 96, first, GREEN)
    _side(d, 120, 40, 96, second, PURPLE)
    d.words(270, 26, "sorted warps", anchor="start")
    _side(d, 270, 40, 96, [True] * _THREADS, GREEN)
    _side(d, 270, 166, 96, [True] * _THREADS, PURPLE)
    d.words(450, 26, "a loop", anchor="start")
    turns = (2, 9, 1, 4, 2, 12, 3, 1)
    for thread, n in enumerate(turns):
        y = 40 + thread * _LANE
        for turn in range(n):
            d.box(450 + turn * 20, y, 17, _LANE - 3, BLUE)
        d.line(450 + n * 20, y + 5, 450 + max(turns) * 20, y + 5, dash="2 3")
    d.line(450 + max(turns) * 20, 34, 450 + max(turns) * 20, 40 + _THREADS * _LANE + 4, INK)
    d.words(450, 166, "the warp stays for the", **_NOTE)
    d.words(450, 182, "longest of its loops", **_NOTE)
    d.words(20, 166, "a row is a thread,", **_NOTE)
    d.words(20, 182, "dotted: it waits", **_NOTE)
    d.arrow(20, 286, 216, 286)
    d.words(118, 278, "time", colour=MUTED)
    return d


def _side(d: Drawing, x: float, y: float, width: float, active: list[bool], colour: str) -> None:
    for thread, works in enumerate(active):
        top = y + thread * _LANE
        if works:
            d.box(x, top, width, _LANE - 3, colour)
        else:
            d.line(x, top + 5, x + width, top + 5, dash="2 3")


if __name__ == "__main__":
    write(numba_types, divergence)
