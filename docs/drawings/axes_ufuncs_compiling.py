"""Makes three drawings of ideas, light and dark: ``python docs/drawings/axes_ufuncs_compiling.py``.

Which axis x walks along, what a ufunc does around a function, and when Numba compiles.
"""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write

_ROWS, _COLS, _CELL = 4, 8, 36
_SECTOR = 4  # elements


def grids_2d_3d() -> Drawing:
    """Four threads along a row fill one sector of memory; along a column they touch four."""
    d = Drawing(720, 262)
    for left, along_row in ((24, True), (400, False)):
        words = "x along the row" if along_row else "x down the column"
        d.words(left, 24, words, anchor="start")
        for row in range(_ROWS):
            for col in range(_COLS):
                thread = col if along_row and row == 0 else row if not along_row and col == 0 else -1
                mine = 0 <= thread < _SECTOR
                x, y = left + col * _CELL, 38 + row * 30
                d.box(x, y, _CELL - 4, 26, BLUE if mine else MUTED, f"t{thread}" if mine else "")
        _memory(d, left, along_row)
    return d


def _memory(d: Drawing, left: float, along_row: bool) -> None:
    """Draw the elements in their order in memory, and the sectors that the four threads touch."""
    width = _COLS * _CELL / (_ROWS * _COLS)
    touched = {0} if along_row else {row * _COLS // _SECTOR for row in range(_ROWS)}
    for sector in range(_ROWS * _COLS // _SECTOR):
        colour = ORANGE if sector in touched else MUTED
        d.box(left + sector * _SECTOR * width + 1, 194, _SECTOR * width - 2, 34, colour)
    for thread in range(_SECTOR):
        element = thread if along_row else thread * _COLS
        d.box(left + element * width + 2, 200, width - 3, 22, BLUE)
    d.words(left, 184, "in memory, row by row", anchor="start", colour=MUTED)
    n = len(touched)
    words = "one sector, all used" if n == 1 else f"{n} sectors, each in part"
    d.words(left, 248, words, anchor="start", colour=MUTED)


def ufuncs() -> Drawing:
    """Draw a function of two numbers that becomes a kernel, and the copies around it."""
    d = Drawing(720, 270)
    d.box(20, 30, 150, 62, PURPLE)
    d.words(95, 54, "larger(a, b)")
    d.words(95, 76, "one pair", colour=MUTED)
    d.arrow(174, 61, 336, 61, PURPLE)
    d.words(255, 50, "@vectorize")
    d.box(340, 30, 220, 62, GREEN)
    d.words(450, 54, "kernel")
    d.words(450, 76, "a thread a pair", colour=MUTED)
    d.words(20, 134, "host", anchor="start", colour=MUTED)
    d.words(230, 134, "device", anchor="start", colour=MUTED)
    d.line(215, 116, 215, 256, dash="3 3")
    d.box(20, 150, 120, 36, ORANGE, "NumPy a, b")
    d.arrow(144, 168, 246, 168, ORANGE, width=2)
    d.words(196, 160, "copy")
    d.box(250, 150, 120, 36, BLUE, "a, b")
    d.arrow(374, 168, 430, 168, BLUE)
    d.box(434, 150, 110, 36, GREEN, "kernel")
    d.arrow(548, 168, 590, 168, BLUE)
    d.box(594, 150, 106, 36, BLUE, "result")
    d.line(647, 190, 647, 226, ORANGE)
    d.arrow(647, 226, 144, 226, ORANGE, width=2)
    d.words(400, 218, "copy")
    d.box(20, 208, 120, 36, ORANGE, "NumPy result")
    d.words(475, 134, "GPU arrays: only this", colour=MUTED)
    return d


def compile_cost() -> Drawing:
    """Four calls: the first loads and compiles, the second does neither, and a cache saves the compiling."""
    d = Drawing(720, 280, labels=148)
    load, compiling, reading = ("load", 120, PURPLE), ("compile", 270, ORANGE), ("read", 92, BLUE)
    rows = (
        (("first call",), (load, compiling)),
        (("second call",), ()),
        (("other types",), (compiling,)),
        (("new process,", "cache=True"), (load, reading)),
    )
    for number, (words, before) in enumerate(rows):
        y = 16 + number * 56
        for line, word in enumerate(words):
            d.words(10, y + (26 if len(words) == 1 else 16) + line * 20, word, anchor="start")
        x = 150.0
        for name, width, colour in (*before, ("run", 56, GREEN)):
            d.box(x, y, width, 40, colour, name)
            x += width
    d.arrow(150, 268, 710, 268)
    d.words(704, 256, "time, not to scale", colour=MUTED, anchor="end")
    return d


if __name__ == "__main__":
    write(grids_2d_3d, ufuncs, compile_cost)
