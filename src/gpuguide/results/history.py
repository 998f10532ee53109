"""How numbers moved over the runs of a recording: what each run found, and which runs left the range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpuguide.errors import ArgumentError
from gpuguide.results.results import InRun
from gpuguide.results.starts import LEAST_STARTS, Drift, Expected, Quantity, drift, expected, starts_words
from gpuguide.results.tables import Column, Row, Table
from gpuguide.results.units import format_ends, format_quantity

__all__ = ["Followed", "History", "Run", "follow"]

LEFT = "*"
"""The mark beside a number outside the range that the runs before it predicted."""

_LEFT_NOTE = f"{LEFT} lies outside the range that the runs before it predicted (nine times out of ten)."
# A history of more numbers has them as rows, and its runs as columns.
_MOST_COLUMNS = 3


@dataclass(frozen=True)
class Run:
    """One run of a page.

    Parameters
    ----------
    date : str
        ISO 8601, in UTC.
    start : int
        The machine start on which it was made: 1 for the first.
    """

    date: str
    start: int


@dataclass(frozen=True)
class Followed:
    """One number in all runs.

    Parameters
    ----------
    where, label : str
        Study and size, ``"sort at 10^8 elements"``; what was measured there.
    over : Quantity
        The median over the machine starts, and the range in which another start's median is expected.
    values : tuple of float or None
        For each run, oldest first, in the base unit; None if a run has no such number.
    left : tuple of bool
        For each run, whether its number lay outside the range from the runs before it. A range takes at least
        three machine starts.
    drift : Drift or None
        Set if the number moves in one direction from start to start; it will then soon leave its range.
    """

    where: str
    label: str
    over: Quantity
    values: tuple[float | None, ...]
    left: tuple[bool, ...]
    drift: Drift | None = None

    def written(self, i: int) -> str:
        """Write what run `i` found, with a mark if it left the range; empty if it found nothing."""
        value = self.values[i]
        # Three digits: two would hide how a device time moves.
        words = "" if value is None else _three_digits(value, self.over.unit)
        return words + LEFT * self.left[i]

    @property
    def n(self) -> int:
        """Runs that have the number."""
        return sum(value is not None for value in self.values)


@dataclass(frozen=True, repr=False)
class History:
    """Numbers of one page over its runs. Printed, it is a table; `plot_history` draws it.

    Parameters
    ----------
    name : str
        Page and machine.
    runs : tuple of Run
        Oldest first.
    numbers : tuple of Followed
        In the order in which they are shown.

    Examples
    --------
    >>> number = follow("sort at 10^8 elements", "CuPy", "s", [("a", 2e-3), ("b", 2.02e-3)])
    >>> print(History("sort_search on nvidia-h200", (Run("2026-11-21", 1), Run("2026-11-22", 2)), (number,)))
    sort_search on nvidia-h200, 2 runs on two machine starts: sort at 10^8 elements
    run         machine start     CuPy
    2026-11-21  1              2.00 ms
    2026-11-22  2              2.02 ms
    all         median          2.0 ms
    """

    name: str
    runs: tuple[Run, ...]
    numbers: tuple[Followed, ...]

    @property
    def n_starts(self) -> int:
        """Machine starts on which the page ran."""
        return len({run.start for run in self.runs})

    @property
    def moved(self) -> bool:
        """Whether a number has two runs, so that it can have moved."""
        return any(number.n > 1 for number in self.numbers)

    def __repr__(self) -> str:
        return f"<History of {self._counted}, {_many(self.numbers, 'number')}>"

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    @property
    def _counted(self) -> str:
        return f"{self.name}, {_many(self.runs, 'run')} on {starts_words(self.n_starts)}"

    def table(self) -> Table:
        """Return a table: a row for each run, or for each number where there are more than three."""
        few = len(self.numbers) <= _MOST_COLUMNS
        table = self._rows_of_runs() if few else self._rows_of_numbers()
        notes = () if few else ("Each run is headed by its month and day, and its machine start.",)
        if any(True in number.left for number in self.numbers):
            notes = (*notes, _LEFT_NOTE)
        notes = (*notes, *(f"{each.label} {_drifting(each.drift)}." for each in self.numbers if each.drift))
        if self.numbers and not self.moved:
            notes = (*notes, "A second run will show how far these numbers move.")
        return Table(*table, notes)

    def _rows_of_runs(self) -> tuple[str, str, str, tuple[Column, ...], tuple[Row, ...]]:
        places = ", ".join(dict.fromkeys(number.where for number in self.numbers if number.where))
        columns = tuple(Column(str(i), each.label, numeric=True) for i, each in enumerate(self.numbers))
        rows = [
            Row(_minute(run.date), str(run.start), {str(j): n.written(i) for j, n in enumerate(self.numbers)})
            for i, run in enumerate(self.runs)
        ]
        if self.moved:
            rows.append(Row("all", "median", {str(j): str(n.over) for j, n in enumerate(self.numbers)}))
        for end in (0, 1) if self.n_starts >= LEAST_STARTS else ():
            words = ("next start from", "next start to")[end]
            rows.append(Row("all", words, {str(j): _ends(n.over)[end] for j, n in enumerate(self.numbers)}))
        caption = f"{self._counted}{f': {places}' if places else ''}"
        return caption, "run", "machine start", columns, tuple(rows if self.numbers else ())

    def _rows_of_numbers(self) -> tuple[str, str, str, tuple[Column, ...], tuple[Row, ...]]:
        columns = [Column("over", "median", numeric=True), Column("range", "another start", numeric=True)]
        columns += [
            Column(str(i), f"{run.date[5:10]} ({run.start})", numeric=True) for i, run in enumerate(self.runs)
        ]
        rows = []
        for each in self.numbers:
            cells = {str(i): each.written(i) for i in range(len(self.runs))}
            rows.append(
                Row(each.where, each.label, {"over": str(each.over), "range": each.over.interval, **cells})
            )
        return self._counted, "where", "what", tuple(columns), tuple(rows)

    def in_words(self) -> str:
        """Say in sentences how far each number moved, for those who cannot see the chart."""
        said = []
        for number in self.numbers:
            there = [value for value in number.values if value is not None]
            low, high = (round(100 * end / number.over.value) for end in (min(there), max(there)))
            left = [str(i) for i, out in enumerate(number.left, start=1) if out]
            outside = f", outside of what was expected in run {' and '.join(left)}" if left else ""
            way = f", it {_drifting(number.drift)}" if number.drift else ""
            said.append(
                f"{' '.join(filter(None, (number.label, _at(number.where))))}: "
                f"from {low} to {high} % of {number.over}{outside}{way}"
            )
        runs = f"{_many(self.runs, 'run')} on {starts_words(self.n_starts)}"
        return f"Numbers against {runs}, each in per cent of its median. {'; '.join(said)}."


def follow(
    where: str,
    label: str,
    unit: str,
    found: Sequence[tuple[str, InRun | float | None]],
) -> Followed:
    """Put together what the runs found as one number.

    Parameters
    ----------
    where, label : str
        As for `Followed`.
    unit : str
        The base unit.
    found : sequence of (str, InRun or float or None)
        For each run, oldest first: its machine start, and what it found; a float has no spread of its own.

    Returns
    -------
    Followed
        With its range, and the runs that left the range of those before them.

    Raises
    ------
    ArgumentError
        If no run found anything.
    """
    runs = [None if each is None else _in_run(start, each) for start, each in found]
    there = [run for run in runs if run is not None]
    if not there:
        raise ArgumentError(f"{' '.join((label, where)).strip()}: expected a run with this number; got none.")
    left = tuple(
        run is not None and _is_outside(run.value, [each for each in runs[:i] if each is not None])
        for i, run in enumerate(runs)
    )
    over = Quantity.of(_expected(there), unit, sum(run.n for run in there))
    values = tuple(None if run is None else run.value for run in runs)
    return Followed(where, label, over, values, left, drift([(run.start, run.value) for run in there]))


def _in_run(start: str, found: InRun | float) -> InRun:
    # The results of a former run do not say on which start it was made.
    return found._replace(start=start) if isinstance(found, InRun) else InRun(start, found, found, found, 0)


def _expected(runs: Sequence[InRun]) -> Expected:
    return expected([(run.start, run.value) for run in runs], [(run.low, run.high) for run in runs])


def _is_outside(value: float, before: Sequence[InRun]) -> bool:
    if not before:
        return False
    range_ = _expected(before)
    return range_.has_range and not range_.low <= value <= range_.high


def _drifting(found: Drift) -> str:
    way = "up" if found.change > 0 else "down"
    by = f"{100 * abs(found.change):.0f} %"
    return f"tended {way} over {found.n_starts} machine starts, by {by} in all"


def _three_digits(value: float, unit: str) -> str:
    # An interval of this width leaves just three of them certain.
    margin = 0.9 * 10.0 ** (math.floor(math.log10(abs(value))) - 2) if value else 0.0
    return format_quantity(value, unit, value - margin, value + margin)


def _ends(over: Quantity) -> tuple[str, str]:
    return format_ends(over.value, over.unit, over.low, over.high) if over.has_range else ("", "")


def _minute(date: str) -> str:
    return date[:16].replace("T", " ")


def _at(where: str) -> str:
    return f"({where})" if where else ""


def _many(things: Sequence[object], one: str) -> str:
    return f"{len(things)} {one}{'' if len(things) == 1 else 's'}"
