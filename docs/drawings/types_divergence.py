"""Makes two drawings of ideas, light and dark: ``python docs/drawings/types_divergence.py``.

Where 64 bits get into a kernel on 32-bit arrays, and what a warp does whose threads disagree.
"""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, GREEN, INK, MUTED, ORANGE, PURPLE, Drawing

from gpuguide.charts.style import to_dark

_NARROW, _WIDE = 20, 40  # heights of 32 and 64 bits
_NOTE = {"size": 12, "colour": MUTED, "anchor": "start"}
_THREADS, _LANE = 8, 13


def numba_types() -> Drawing:
    """Draw three ways from kept[i] to level[i]: widened once, widened for each dose, never widened."""
    d = Drawing(720, 300)
    rows = (
        ("Python floats", ((532, True, "all doses in 64 bits"),)),
        ("rounded steps", (*((64, True, "dose"), (44, False, "")) * 4, (68, True, "dose"))),
        ("float32 only", ((532, False, "all doses in 32 bits"),)),
    )
    for number, (name, parts) in enumerate(rows):
        middle = 66 + number * 84
        d.words(20, middle - 32, name, anchor="start")
        _bits(d, 20, middle, 70, wide=False, words="kept[i]")
        x = 94.0
        for width, wide, words in parts:
            _bits(d, x, middle, width, wide=wide, words=words)
            x += width + 4
        _bits(d, 630, middle, 70, wide=False, words="level[i]")
    d.box(20, 276, 20, _NARROW / 2, BLUE)
    d.words(48, 286, "32 bits", **_NOTE)
    d.box(120, 271, 20, _WIDE / 2, ORANGE)
    d.words(148, 286, "64 bits", **_NOTE)
    return d


def _bits(d: Drawing, x: float, middle: float, width: float, *, wide: bool, words: str) -> None:
    height, colour = (_WIDE, ORANGE) if wide else (_NARROW, BLUE)
    d.box(x, middle - height / 2, width, height, colour, words, size=12)


def divergence() -> Drawing:
    """Draw eight threads over time: both kinds mixed, each warp of one kind, and a loop of many lengths."""
    d = Drawing(720, 300)
    first, second = [t % 2 == 0 for t in range(_THREADS)], [t % 2 == 1 for t in range(_THREADS)]
    d.words(20, 26, "both kinds in a warp", anchor="start")
    _side(d, 20, 40, 96, first, GREEN)
    _side(d, 120, 40, 96, second, PURPLE)
    d.words(270, 26, "warps that agree", anchor="start")
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
    d.words(20, 166, "each row is a thread,", **_NOTE)
    d.words(20, 182, "dotted: it waits", **_NOTE)
    d.arrow(20, 286, 216, 286)
    d.words(118, 278, "time", size=12, colour=MUTED)
    return d


def _side(d: Drawing, x: float, y: float, width: float, active: list[bool], colour: str) -> None:
    for thread, works in enumerate(active):
        top = y + thread * _LANE
        if works:
            d.box(x, top, width, _LANE - 3, colour)
        else:
            d.line(x, top + 5, x + width, top + 5, dash="2 3")


def main() -> None:
    """Write the drawings and their dark twins."""
    for make in (numba_types, divergence):
        svg = make().svg()
        (FOLDER / f"{make.__name__}.svg").write_text(svg, encoding="utf-8")
        (FOLDER / f"{make.__name__}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
