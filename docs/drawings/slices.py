"""Makes the drawing of a slice that crosses to the GPU: ``python docs/drawings/slices.py``."""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, Drawing, write


def slicing() -> Drawing:
    """Every fourth of sixteen numbers: gathered on the host before they cross, or on the GPU afterwards."""
    d = Drawing(720, 290)
    cell = 17
    d.words(150, 24, "host", colour=MUTED)
    d.words(560, 24, "GPU", colour=MUTED)
    d.line(372, 36, 372, 280, MUTED, dash="4 3")
    _row(d, 14, 44, cell)
    d.words(150, 92, "NumPy gathers", colour=ORANGE)
    _four(d, 116, 104, cell)
    d.arrow(196, 114, 524, 114)
    d.words(362, 106, "few bytes", anchor="end")
    _four(d, 530, 104, cell)
    d.line(14, 146, 706, 146, MUTED)
    _row(d, 14, 168, cell)
    for y in (172, 178, 184):
        d.arrow(296, y, 420, y)
    d.words(362, 212, "all bytes", anchor="end")
    _row(d, 426, 168, cell)
    d.words(560, 216, "the GPU gathers", colour=GREEN)
    _four(d, 530, 230, cell)
    return d


def _row(d: Drawing, x: float, y: float, cell: int) -> None:
    for i in range(16):
        d.box(x + i * cell, y, cell - 2, 20, MUTED if i % 4 else BLUE)


def _four(d: Drawing, x: float, y: float, cell: int) -> None:
    for i in range(4):
        d.box(x + i * cell, y, cell - 2, 20, BLUE)


if __name__ == "__main__":
    write(slicing)
