"""What a drawing shows, as data: some threads above, some elements below, and what joins them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["GAP", "NEVER_WRITTEN", "Axis", "Link", "Picture", "Touched", "composed"]

#: Stands for what is left out.
GAP = "…"
#: Said of an element that is wrong because no thread came to it, so that no link can be marked.
NEVER_WRITTEN = "never written"
_LETTERS = "rwa"


@dataclass(frozen=True)
class Link:
    """What one thread does with one element.

    Attributes
    ----------
    top, bottom : int
        Positions in `Picture.above` and `Picture.below`.
    doing : str
        Some of the letters r (reads), w (writes) and a (changes atomically); x for anything else.
    marked : bool
        Whether it is part of what is wrong.
    """

    top: int
    bottom: int
    doing: str
    marked: bool = False


@dataclass(frozen=True)
class Picture:
    """A drawing as data; text and SVG are made of it.

    Attributes
    ----------
    heading : str
        What is drawn, without a full stop.
    top : str
        What the labels above number: ``"thread"``.
    above, below : tuple of str
        Labels, with `GAP` where something is left out.
    links : tuple of Link
        By position above, then below.
    notes : mapping of int to str
        What is to be said of single positions below.
    mark : str
        What a marked link means; empty if none is marked.
    """

    heading: str
    top: str
    above: tuple[str, ...]
    below: tuple[str, ...]
    links: tuple[Link, ...]
    notes: Mapping[int, str]
    mark: str = ""


@dataclass(frozen=True)
class Touched:
    """That a thread touched a row, both by number.

    Attributes
    ----------
    thread, row : int
        Any numbers that order them.
    doing : str
        A letter, as in `Link`.
    marked : bool
        Whether it is part of what is wrong.
    """

    thread: int
    row: int
    doing: str
    marked: bool = False


@dataclass(frozen=True)
class Axis:
    """What stands above, or below.

    Attributes
    ----------
    all : sequence of int
        The numbers of everything there is, ascending: what is not shown leaves a gap.
    label : callable
        From a number to its label.
    centre : sequence of int
        What must be seen.
    """

    all: Sequence[int]
    label: Callable[[int], str]
    centre: Sequence[int]

    def nearest(self, items: set[int], most: int) -> list[int]:
        """Choose at most so many of some numbers: those of the centre, then the nearest to it."""
        known = sorted(items | set(self.centre))
        wanted = self.centre or known[:1]
        distance = {item: min(abs(item - each) for each in wanted) for item in known}
        return sorted(sorted(known, key=lambda item: (distance[item], item))[:most])

    def with_gaps(self, chosen: Sequence[int]) -> tuple[tuple[str, ...], dict[int, int]]:
        """Return labels with gaps between, and where each number stands among them."""
        shown: list[str] = []
        positions: dict[int, int] = {}
        last = -1
        for number in chosen:
            place = bisect_left(self.all, number)
            if place > last + 1:
                shown.append(GAP)
            positions[number] = len(shown)
            shown.append(self.label(number))
            last = place
        if last < len(self.all) - 1:
            shown.append(GAP)
        return tuple(shown), positions


def composed(
    heading: str,
    top: str,
    touched: Sequence[Touched],
    threads: Axis,
    rows: Axis,
    *,
    most: int,
    notes: Mapping[int, str] | None = None,
    mark: str = "",
) -> Picture:
    """Compose a picture of at most so many threads and rows.

    Parameters
    ----------
    heading, top : str
        As in `Picture`.
    touched : sequence of Touched
        What may be shown.
    threads, rows : Axis
        Above and below.
    most : int
        Threads, and rows, to show at most.
    notes : mapping of int to str, optional
        By number of the row.
    mark : str
        As in `Picture`.

    Returns
    -------
    Picture
        With gaps where something is left out.
    """
    above, tops = threads.with_gaps(threads.nearest({each.thread for each in touched}, most))
    shown = [each for each in touched if each.thread in tops]
    below, bottoms = rows.with_gaps(rows.nearest({each.row for each in shown}, most))
    found: dict[tuple[int, int], list[Touched]] = defaultdict(list)
    for each in shown:
        if each.row in bottoms:
            found[tops[each.thread], bottoms[each.row]].append(each)
    links = tuple(
        Link(*ends, _letters(each.doing for each in group), any(each.marked for each in group))
        for ends, group in sorted(found.items())
    )
    said = {bottoms[row]: note for row, note in (notes or {}).items() if row in bottoms}
    return Picture(heading, top, above, below, links, said, mark if any(x.marked for x in links) else "")


def _letters(doings: Iterable[str]) -> str:
    """Return the letters of what is done, each once, in their order."""
    done = set(doings)
    return "".join(letter for letter in _LETTERS if letter in done) or "x"
