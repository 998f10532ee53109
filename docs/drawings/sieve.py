"""Makes the drawings of the two pages about sieves: ``python docs/drawings/sieve.py``."""

from __future__ import annotations

from itertools import pairwise

from make_drawings import BLUE, FOLDER, GREEN, MUTED, ORANGE, PURPLE, Drawing

from gpuguide.charts.style import to_dark

_STEPS = ((3, BLUE), (5, GREEN), (7, PURPLE))
_LEFT, _CELL = 96, 24


def primes() -> Drawing:
    """Odd numbers to 49, crossed off by steps of 3, 5 and 7, cut into two segments for two blocks."""
    d = Drawing(720, 262)
    numbers = range(1, 50, 2)
    d.words(16, 56, "number", anchor="start", size=12, colour=MUTED)
    for i, number in enumerate(numbers):
        crossed = number == 1 or any(number % p == 0 and number >= p * p for p, _ in _STEPS)
        d.box(_LEFT + i * _CELL, 38, _CELL - 3, 28, MUTED if crossed else ORANGE, str(number), size=11)
    for row, (step, colour) in enumerate(_STEPS):
        y = 92 + row * 34
        d.words(16, y + 4, f"step {step}", anchor="start", size=12, colour=colour)
        places = [i for i, number in enumerate(numbers) if number % step == 0 and number >= step * step]
        for i in places:
            x = _LEFT + i * _CELL + 10
            d.line(x - 6, y - 6, x + 6, y + 6, colour)
            d.line(x - 6, y + 6, x + 6, y - 6, colour)
        for one, two in pairwise(places):
            d.arrow(_LEFT + one * _CELL + 20, y, _LEFT + two * _CELL + 1, y, colour, dash="2 3")
    border = _LEFT + 13 * _CELL - 1.5
    d.line(border, 22, border, 206, ORANGE, dash="5 4")
    for left, right, block in ((_LEFT, border - 4, 0), (border + 4, _LEFT + 25 * _CELL - 3, 1)):
        d.box(left, 196, right - left, 26, ORANGE, f"segment in the shared memory of block {block}", size=12)
    d.words(
        _LEFT, 250, "orange: primes; grey: crossed off, some of them twice, and 1, which is no prime", **_NOTE
    )
    return d


def banks() -> Drawing:
    """How many of 32 lanes meet in each memory bank: stretches of 12 multiples of 29, and of 24."""
    d = Drawing(720, 212)
    d.words(16, 22, "32 memory banks, four bytes wide, and how many lanes of a warp meet in each", **_NOTE)
    for row, (stretch, said) in enumerate(
        ((12, "each lane has a bank of its own: one turn"), (24, "lanes meet in pairs: two turns"))
    ):
        y = 44 + row * 96
        met = [lane * stretch * 29 // 4 % 32 for lane in range(32)]
        d.words(16, y + 22, f"{stretch} multiples", anchor="start", size=12)
        d.words(16, y + 38, "per lane", anchor="start", size=12)
        for bank in range(32):
            lanes = met.count(bank)
            colour = {0: MUTED, 1: GREEN}.get(lanes, ORANGE)
            d.box(_LEFT + bank * 19, y + 8, 16, 30, colour, str(lanes) if lanes else "", size=11)
        d.words(_LEFT, y + 60, said, **_NOTE)
    return d


_NOTE = {"size": 12, "colour": MUTED, "anchor": "start"}


def main() -> None:
    """Write the drawings and their dark twins."""
    for draw in (primes, banks):
        svg = draw().svg()
        (FOLDER / f"{draw.__name__}.svg").write_text(svg, encoding="utf-8")
        (FOLDER / f"{draw.__name__}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
