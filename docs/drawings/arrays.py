"""Makes the drawings of the pages on arrays, light and dark: ``python docs/drawings/arrays.py``.

Where the weights go that a bright pixel of an image is convolved with.
"""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, Drawing, write

_ROWS, _COLUMNS, _EDGE = 5, 6, 46
_ROW_COLOURS = (BLUE, GREEN, ORANGE)


def numpy_to_cupy() -> Drawing:
    """Nine weights around one pixel: end to end in a line, and in three rows of three."""
    d = Drawing(720, 306)
    centre = 2 * _COLUMNS + 2
    in_a_line = {centre - 4 + k: k for k in range(9)}
    in_a_square = {centre + (k // 3 - 1) * _COLUMNS + k % 3 - 1: k for k in range(9)}
    for left, words, places in (
        (24, "1-D, after ravel()", in_a_line),
        (420, "2-D", in_a_square),
    ):
        d.words(left + _COLUMNS * _EDGE / 2, 30, words)
        for place in range(_ROWS * _COLUMNS):
            row, column = divmod(place, _COLUMNS)
            k = places.get(place)
            colour = MUTED if k is None else _ROW_COLOURS[k // 3]
            x, y = left + column * _EDGE, 50 + row * _EDGE
            d.box(x, y, _EDGE - 5, _EDGE - 5, colour, "" if k is None else str(k + 1))
    # Where the line goes on after the end of a row.
    right, first = 24 + _COLUMNS * _EDGE + 6, 50 + 1.45 * _EDGE
    for row in (0, 1):
        d.arrow(right - 8, first + row * _EDGE, right + 24, first + row * _EDGE)
    return d


if __name__ == "__main__":
    write(numpy_to_cupy)
