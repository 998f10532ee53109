"""What a study will compare: data that a recording holds, shown as text or HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from gpuguide.results.units import format_size

__all__ = ["StudyDescription"]

_HEADINGS = ("variant", "runs on", "timed by", "bytes per element", "what it does")
_CLOCKS = {
    "device": "GPU time, launch apart",
    "end_to_end": "host, until the result is there",
    "host": "host",
}


@dataclass(frozen=True)
class StudyDescription:
    """A study before it runs: a row for each variant, and lines on sizes, inputs and tolerance."""

    title: str
    variants: tuple[tuple[str, str, str, str, str], ...]
    sizes: tuple[int, ...]
    size_name: str
    dtype: str
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows of the table, the clock in words."""
        return tuple((*row[:2], _CLOCKS.get(row[2], row[2]), *row[3:]) for row in self.variants)

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Word and text of each line below the table."""
        sizes = ", ".join(map(format_size, self.sizes))
        return (("Sizes", f"{sizes} {self.size_name} of {self.dtype}"), *self.notes)

    def __repr__(self) -> str:
        n_variants, n_sizes = len(self.variants), len(self.sizes)
        return f"<StudyDescription {self.title!r}: {n_variants} variants, {n_sizes} sizes, {self.dtype}>"

    def __str__(self) -> str:
        rows = [_HEADINGS, *self.rows]
        # The last column is not padded: what a variant does may be a long sentence.
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADINGS) - 1)]
        table = [
            "  ".join(
                [*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]]
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self.title, "", *table, "", *(f"{word}: {text}" for word, text in self.lines)])

    def html(self) -> str:
        """Return one table, and one paragraph per note; all text is escaped."""
        head = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
        body = "".join(map(_html_row, self.rows))
        below = [f"<p><strong>{escape(word)}</strong>: {escape(text)}</p>" for word, text in self.lines]
        return (
            f'<div class="gg-study"><table><caption>{escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{''.join(below)}</div>"
        )


def _html_row(row: tuple[str, ...]) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in row[1:])
    return f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'
