"""Makes the drawing of two slabs that exchange their edges: ``python docs/drawings/several_gpus.py``."""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, Drawing, write

_ROW = 34


def _slab(d: Drawing, left: float, top: float, name: str, colour: str, *, rim_below: bool) -> None:
    """Draw four rows of a slab, and the row that it borrows below or above them."""
    words = ["its own rows", "", "", "edge"] if rim_below else ["edge", "", "", "its own rows"]
    first = top if rim_below else top + _ROW + 6
    for row, said in enumerate(words):
        d.box(left, first + row * _ROW, 270, _ROW - 4, colour, said)
    rim = top + 4 * _ROW + 6 if rim_below else top
    d.box(left, rim, 270, _ROW - 4, MUTED, "borrowed edge")
    d.words(left + 135, top - 12, name)


def several_gpus() -> Drawing:
    """Draw a slab on each of two GPUs; each sends its edge into the row that the other one has borrowed."""
    d = Drawing(720, 232)
    _slab(d, 14, 40, "GPU 0: upper slab", BLUE, rim_below=True)
    _slab(d, 436, 40, "GPU 1: lower slab", GREEN, rim_below=False)
    # From the last row of the upper slab to the rim above the lower one, and back.
    d.arrow(288, 40 + 3.4 * _ROW, 432, 40 + 0.45 * _ROW, BLUE, width=2)
    d.arrow(432, 40 + 1.6 * _ROW, 288, 40 + 4.6 * _ROW, GREEN, width=2)
    d.words(372, 184, "copied", colour=ORANGE)
    d.words(372, 204, "each step", colour=ORANGE)
    return d


if __name__ == "__main__":
    write(several_gpus)
