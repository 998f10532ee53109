"""Makes the drawings of the pages on reductions and scans: ``python docs/drawings/adding.py``."""

from __future__ import annotations

from itertools import accumulate

from make_drawings import BLUE, GREEN, MUTED, ORANGE, Drawing, write

_WIDE, _HIGH, _LEFT = 62, 30, 150
_NUMBERS = (3, 1, 4, 1, 5, 9, 2, 6)


def _row(d: Drawing, top: float, words: str, cells: list[tuple[int | str, str]]) -> None:
    d.words(10, top + _HIGH / 2 + 5, words, anchor="start")
    for at, (number, colour) in enumerate(cells):
        d.box(_LEFT + at * _WIDE, top, _WIDE - 6, _HIGH, colour, str(number))


def _middle(at: int) -> float:
    return _LEFT + at * _WIDE + (_WIDE - 6) / 2


def reductions() -> Drawing:
    """Eight numbers in shared memory: half as many threads add in each of three steps."""
    d = Drawing(_LEFT + 8 * _WIDE, 250, labels=_LEFT - 10)
    numbers: list[int] = list(_NUMBERS)
    _row(d, 10, "8 numbers", [(number, BLUE) for number in numbers])
    half, top = 4, 10.0
    while half:
        for thread in range(half):
            numbers[thread] += numbers[thread + half]
            for source in (thread, thread + half):
                d.arrow(_middle(source), top + _HIGH + 2, _middle(thread), top + 68, ORANGE)
        top += 70
        who = f"{half} threads add" if half > 1 else "1 thread adds"
        _row(d, top, who, [(n, ORANGE if at < half else MUTED) for at, n in enumerate(numbers)])
        half //= 2
    return d


def scan() -> Drawing:
    """Three pieces of numbers: their sums, the running totals of these, and those within the pieces."""
    d = Drawing(_LEFT + 9 * _WIDE, 250, labels=_LEFT - 10)
    numbers = (*_NUMBERS, 5)
    colours = [colour for colour in (BLUE, GREEN, ORANGE) for _ in range(3)]
    pieces = [numbers[start : start + 3] for start in (0, 3, 6)]
    sums = [sum(piece) for piece in pieces]
    ends = list(accumulate(sums))
    _row(d, 10, "numbers", list(zip(numbers, colours, strict=True)))
    for words, top, values in (("1. sums", 80, sums), ("2. their totals", 145, ends)):
        d.words(10, top + _HIGH / 2 + 5, words, anchor="start")
        for piece, value in enumerate(values):
            middle = 3 * piece + 1
            d.box(_LEFT + middle * _WIDE, top, _WIDE - 6, _HIGH, colours[3 * piece], str(value))
    for piece in range(3):
        middle = 3 * piece + 1
        d.arrow(_middle(middle), 10 + _HIGH + 2, _middle(middle), 78, MUTED)
        d.arrow(_middle(middle), 80 + _HIGH + 2, _middle(middle), 143, MUTED)
        if piece < 2:
            d.arrow(_middle(middle) + 30, 162, _middle(middle + 3) - 34, 162, MUTED)
            d.arrow(_middle(middle), 145 + _HIGH + 2, _middle(3 * piece + 3), 208, MUTED)
    _row(d, 210, "3. all totals", list(zip(accumulate(numbers), colours, strict=True)))
    return d


if __name__ == "__main__":
    write(reductions, scan)
