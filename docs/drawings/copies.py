"""Makes two drawings of ideas, light and dark: ``python docs/drawings/copies.py``.

Which way the bytes of a copy go, and where numbers can be made.
"""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write

_BORDER = 420


def _sides(d: Drawing, height: float) -> None:
    d.words(14, 24, "host", anchor="start", colour=MUTED)
    d.words(706, 24, "GPU", anchor="end", colour=MUTED)
    d.words(_BORDER, 24, "PCIe", colour=MUTED)
    d.line(_BORDER, 36, _BORDER, height - 8, dash="3 3")


def transfers() -> Drawing:
    """Draw a pageable copy in two steps, a pinned one in one, and a function that reads pinned memory."""
    d = Drawing(720, 290)
    _sides(d, 290)
    d.box(14, 46, 150, 56, ORANGE, "pageable array")
    d.arrow(168, 74, 272, 74, ORANGE)
    d.words(220, 64, "CPU")
    d.words(220, 96, "copies")
    d.box(276, 54, 110, 40, PURPLE, "driver's")
    d.words(331, 114, "pinned, small", colour=MUTED)
    d.arrow(390, 74, 524, 74, BLUE, width=2)
    d.box(528, 46, 170, 56, BLUE, "array on the GPU")
    d.box(14, 132, 372, 56, PURPLE, "pinned array")
    d.arrow(390, 160, 524, 160, BLUE, width=2)
    d.words(426, 150, "fetches", anchor="start")
    d.box(528, 132, 170, 56, BLUE, "array on the GPU")
    d.box(14, 218, 372, 56, PURPLE, "pinned array")
    d.arrow(390, 246, 524, 246, GREEN, width=2)
    d.words(426, 236, "reads", anchor="start")
    d.box(528, 218, 170, 56, GREEN, "function")
    return d


def data_where_it_is() -> Drawing:
    """Draw random numbers that cross PCIe before they are used, and others made where they are used."""
    d = Drawing(720, 220)
    _sides(d, 220)
    d.box(14, 50, 130, 70, ORANGE, "random")
    d.arrow(148, 85, 196, 85, ORANGE)
    d.box(200, 50, 186, 70, ORANGE, "two vectors")
    d.arrow(390, 85, 504, 85, ORANGE, width=4)
    d.box(508, 50, 100, 70, BLUE, "vectors")
    d.arrow(612, 85, 648, 85, BLUE)
    d.box(652, 50, 54, 70, GREEN, "dot")
    d.box(608, 154, 98, 50, BLUE, "random")
    d.arrow(604, 179, 566, 179, BLUE)
    d.box(508, 154, 54, 50, GREEN, "dot")
    d.arrow(504, 179, 390, 179, GREEN)
    d.box(270, 154, 116, 50, GREEN, "one number")
    return d


if __name__ == "__main__":
    write(transfers, data_where_it_is)
