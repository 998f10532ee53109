"""Makes the drawings of the two pages about sieves: ``python docs/drawings/sieve.py``."""

from __future__ import annotations

from itertools import pairwise

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write

_STEPS = ((3, BLUE), (5, GREEN), (7, PURPLE))


def primes(*, narrow: bool = False) -> Drawing:
    """Odd numbers to 49, crossed off by steps of 3, 5 and 7, cut into two segments; on a phone, the first."""
    d = Drawing(360, 276) if narrow else Drawing(720, 262)
    left, cell = (58, 23) if narrow else (96, 24)
    numbers = range(1, 26 if narrow else 50, 2)
    d.words(left, 24, "odd numbers", anchor="start", colour=MUTED)
    for i, number in enumerate(numbers):
        crossed = number == 1 or any(number % p == 0 and number >= p * p for p, _ in _STEPS)
        d.box(left + i * cell, 38, cell - 3, 28, MUTED if crossed else ORANGE, str(number))
    for row, (step, colour) in enumerate(_STEPS):
        y = 92 + row * 34
        d.words(8, y + 4, f"step {step}", anchor="start", colour=colour)
        places = [i for i, number in enumerate(numbers) if number % step == 0 and number >= step * step]
        for i in places:
            x = left + i * cell + 10
            d.line(x - 6, y - 6, x + 6, y + 6, colour)
            d.line(x - 6, y + 6, x + 6, y - 6, colour)
        for one, two in pairwise(places):
            d.arrow(left + one * cell + 20, y, left + two * cell + 1, y, colour, dash="2 3")
    segments = [(0, 13)] if narrow else [(0, 13), (13, 25)]
    for block, (first, last) in enumerate(segments):
        if block:
            d.line(left + first * cell - 1.5, 22, left + first * cell - 1.5, 190, ORANGE, dash="5 4")
        width = (last - first) * cell - 6
        d.box(left + first * cell + 1, 196, width, 26, ORANGE, f"segment of block {block}")
    note = ("orange: primes; grey: crossed off,", "some of them twice, and 1, which is no prime")
    for line, words in enumerate(note if narrow else (" ".join(note),)):
        d.words(8 if narrow else left, 250 + 18 * line, words, **_NOTE)
    return d


def banks(*, narrow: bool = False) -> Drawing:
    """How many of 32 lanes meet in each memory bank: stretches of 12 multiples of 29, and of 24."""
    d = Drawing(720, 212)
    d.words(16, 22, "32 memory banks, and the lanes of a warp in each", **_NOTE)
    for row, (stretch, said) in enumerate(
        ((12, "a bank for each lane, one turn"), (24, "lanes meet in pairs, two turns"))
    ):
        y = 44 + row * 96
        met = [lane * stretch * 29 // 4 % 32 for lane in range(32)]
        for bank in range(32):
            lanes = met.count(bank)
            colour = {0: MUTED, 1: GREEN}.get(lanes, ORANGE)
            # On a phone a bank is too narrow for its number, which its colour says as well.
            d.box(16 + bank * 21.5, y + 8, 18, 30, colour, str(lanes) if lanes and not narrow else "")
        d.words(16, y + 60, f"{stretch} numbers a lane: {said}", **_NOTE)
    return d.squeezed() if narrow else d


_NOTE = {"colour": MUTED, "anchor": "start"}


if __name__ == "__main__":
    write(primes, banks)
