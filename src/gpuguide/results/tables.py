"""Tables of results: as text, as semantic HTML, and as CSV in base units."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

__all__ = ["Column", "Row", "Table"]


@dataclass(frozen=True)
class Column:
    """One column of a shown table.

    Parameters
    ----------
    key : str
        Which of a row's cells it shows.
    heading : str
        What stands above it.
    numeric : bool
        Whether it is aligned to the right.

    Examples
    --------
    >>> Column("median", "median", numeric=True).heading
    'median'
    """

    key: str
    heading: str
    numeric: bool = False


@dataclass(frozen=True)
class Row:
    """One row: what is shown, and the same in base units.

    Parameters
    ----------
    group, label : str
        The headers of its group (a size) and of itself (a variant).
    cells : mapping of str to str
        The shown text of each column key; a missing one is empty.
    reason : str
        Shown in place of all cells: why there is nothing to show.
    raw : mapping of str to (str, int, float, bool or None)
        For CSV: values in base units. All rows of a table have the same keys.

    Examples
    --------
    >>> Row("2^20", "NumPy", reason="no GPU").cells
    {}
    """

    group: str
    label: str
    cells: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    raw: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Rows grouped by a first column, with a caption; columns without content are left out.

    Parameters
    ----------
    caption : str
        One line above the table.
    group_heading, label_heading : str
        What stands above the groups and above the rows' own headers.
    columns : tuple of Column
        The columns that may be shown, in order.
    rows : tuple of Row
        Rows of one group stand together.
    notes : tuple of str
        Lines below the table.

    Examples
    --------
    >>> rows = (Row("2^10", "NumPy", {"median": "5.0 µs"}), Row("2^10", "CuPy", reason="no GPU"))
    >>> table = Table("Add one", "elements", "variant", (Column("median", "median", True),), rows)
    >>> print(table)
    Add one
    elements  variant  median
    2^10      NumPy    5.0 µs
              CuPy     no GPU
    """

    caption: str
    group_heading: str
    label_heading: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Table {self.caption!r}: {len(self.rows)} row{'' if len(self.rows) == 1 else 's'}>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    @cached_property
    def shown(self) -> tuple[Column, ...]:
        """The columns in which a row has content."""
        return tuple(column for column in self.columns if any(row.cells.get(column.key) for row in self.rows))

    def text(self) -> str:
        r"""Return the table as aligned plain text, without a line break at its end.

        Returns
        -------
        str
            Caption, headings, rows, notes.

        Examples
        --------
        >>> Table("Add one", "elements", "variant", (), ()).text()
        'Add one\nNothing was measured.'
        """
        if not self.rows:
            return "\n".join((self.caption, "Nothing was measured.", *self.notes))
        columns = (Column("", self.group_heading), Column("", self.label_heading), *self.shown)
        lines = [[column.heading for column in columns]]
        for group in self._groups():
            sizes = [group[0].group] + [""] * (len(group) - 1)
            lines += [[size, row.label, *self._texts(row)] for size, row in zip(sizes, group, strict=True)]
        widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(columns))]
        # A reason stands in place of the cells and may be longer than they are, so it must not widen a
        # column.
        reasons = ["", *(row.reason for row in self.rows)]
        aligned = [_align(*line, columns, widths) for line in zip(lines, reasons, strict=True)]
        return "\n".join((self.caption, *aligned, *self.notes))

    def html(self) -> str:
        """Return the table as HTML: a caption, column and row headers with their scope, no style.

        Returns
        -------
        str
            A ``table`` element of class ``gpuguide-results``; every text is escaped.

        Examples
        --------
        >>> table = Table("Add one", "elements", "variant", (), (Row("2^10", "CuPy", reason="no GPU"),))
        >>> table.html().splitlines()[1]
        '<caption>Add one</caption>'
        """
        headings = [self.group_heading, self.label_heading, *(column.heading for column in self.shown)]
        head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
        lines = ['<table class="gpuguide-results">', f"<caption>{escape(self.caption)}</caption>"]
        lines += [f"<thead><tr>{head}</tr></thead>"]
        for group in self._groups():
            # One body per group: a header with that scope covers its `tbody`.
            header = f'<th scope="rowgroup" rowspan="{len(group)}">{_power(group[0].group)}</th>'
            rows = [f'<th scope="row">{escape(row.label)}</th>{self._html_cells(row)}' for row in group]
            lines += ["<tbody>", f"<tr>{header}{rows[0]}</tr>"]
            lines += [*(f"<tr>{row}</tr>" for row in rows[1:]), "</tbody>"]
        if self.notes:
            notes = "<br>".join(map(escape, self.notes))
            lines += [f'<tfoot><tr><td colspan="{len(headings)}">{notes}</td></tr></tfoot>']
        return "\n".join((*lines, "</table>"))

    def csv(self) -> str:
        r"""Return all rows as CSV in base units, with the same columns for every table of a kind.

        Returns
        -------
        str
            Seconds, bytes per second and plain numbers at full precision; empty if there are no rows.

        Examples
        --------
        >>> Table("Add one", "elements", "variant", (), (Row("8", "CuPy", raw={"median_s": 5e-06}),)).csv()
        'median_s\n5e-06\n'
        """
        if not self.rows:
            return ""
        stream = io.StringIO()
        # The csv module would end lines as Windows does.
        writer = csv.DictWriter(stream, list(self.rows[0].raw), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _no_formula(value) for name, value in row.raw.items()} for row in self.rows)
        return stream.getvalue()

    def _groups(self) -> list[list[Row]]:
        return [list(rows) for _, rows in itertools.groupby(self.rows, key=lambda row: row.group)]

    def _texts(self, row: Row) -> list[str]:
        return [] if row.reason else [row.cells.get(column.key, "") for column in self.shown]

    def _html_cells(self, row: Row) -> str:
        if row.reason:
            return f'<td colspan="{max(1, len(self.shown))}">{escape(row.reason)}</td>'
        return "".join(
            f'<td class="number">{escape(text)}</td>' if column.numeric else f"<td>{escape(text)}</td>"
            for column, text in zip(self.shown, self._texts(row), strict=True)
        )


def _align(line: Sequence[str], reason: str, columns: Sequence[Column], widths: Sequence[int]) -> str:
    texts = [
        text.rjust(width) if column.numeric else text.ljust(width)
        for text, column, width in zip(line, columns, widths, strict=False)
    ]
    return "  ".join((*texts, reason)).rstrip()


def _power(size: str) -> str:
    return re.sub(r"^(\d+)\^(\d+)$", r"\1<sup>\2</sup>", escape(size))


def _no_formula(value: object) -> object:
    """Quote a text that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value
