"""Tables of results: as text, as semantic HTML, and as CSV in base units."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape

__all__ = ["Column", "Row", "Table", "fitted"]


@dataclass(frozen=True)
class Column:
    """One column of a shown table."""

    key: str
    heading: str
    numeric: bool = False


@dataclass(frozen=True)
class Row:
    """One row: what is shown, and the same in base units."""

    group: str
    label: str
    cells: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    raw: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Rows grouped by a first column, with a caption; columns without content are left out."""

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
        r"""Return the table as aligned plain text, without a line break at its end."""
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
        """Return the table as HTML: a caption, column and row headers with their scope, no style."""
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
        r"""Return all rows as CSV in base units, with the same columns for every table of a kind."""
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


def fitted(table: Table, width: int, keys: Iterable[str]) -> tuple[Table, list[str]]:
    """Leave out columns, in the order of their keys, until a table fits a terminal; a note names them."""
    left_out: list[str] = []
    for key in keys:
        if max(map(len, table.text().splitlines()[1:])) <= width:
            break
        left_out += [column.heading for column in table.shown if column.key == key]
        table = replace(table, columns=tuple(column for column in table.columns if column.key != key))
    names = ", ".join(dict.fromkeys(left_out))
    return table, [f"Left out, because this terminal is narrow: {names}."] if names else []


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
