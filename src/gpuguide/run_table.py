"""What ``gpuguide run`` prints: studies beside the guide's machines, and which findings of the page hold."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from gpuguide.errors import GpuGuideError
from gpuguide.recordings.recording import Recording, machine_name
from gpuguide.results.claims import Verdict
from gpuguide.results.findings import Finding, judge
from gpuguide.results.results import Results, sizes_left_out
from gpuguide.results.starts import Quantity
from gpuguide.results.tables import Column, Row, Table, fitted
from gpuguide.results.units import format_quantity, format_size

__all__ = ["findings_here", "left_out_words", "recorded_on", "run_table"]

# Keys of the columns that a narrow terminal goes without, the least important first.
_DISPENSABLE = ("method", "n", "spread", "work", "flop_rate", "threads", "launch", "rate", "region")


def run_table(results: Results, recordings: Sequence[Recording], width: int) -> str:
    """Write results as a table, with what the guide's machines have of each row."""
    table = results.table()
    rows = [row for row in table.rows if row.raw["size"] not in dict(sizes_left_out(results))]
    # How many runs there were, a reader knows.
    caption = f"{results.title} ({results.dtype}, {results.cache} cache{', quick run' * results.quick})"
    table = replace(table, caption=caption, rows=tuple(rows), notes=())
    headings = {"median": "here", "share": "share"}
    columns = [replace(each, heading=headings.get(each.key, each.heading)) for each in table.columns]
    # The share beside the time, as for the other machines.
    columns.sort(key=lambda column: column.key not in ("region", "threads", "median", "share"))
    table = replace(table, columns=tuple(columns))
    for recording in recordings:
        if study := recording.studies.get(results.name):
            table = _beside(table, results, study, machine_name(recording))
    table, notes = _with_numbered_remarks(table)
    # Shares last, and in the end all of the machines but the first.
    keys = [column.key for column in table.columns]
    shares = [key for key in keys if key.startswith("share")]
    machines = [key for key in keys if key.startswith(("time ", "ratio "))]
    table, left_out = fitted(table, width, (*_DISPENSABLE, *reversed(shares), *reversed(machines[2:])))
    notes = [textwrap.fill(note, width, subsequent_indent="  ") for note in (*notes, *left_out)]
    return "\n".join((table.text(), *notes))


def left_out_words(results: Results) -> list[str]:
    """Say which sizes were left out, a sentence for each reason."""
    return [
        f"Left out: {', '.join(format_size(size) for size, _ in sizes)} {results.size_name}: {why}."
        for why, sizes in groupby(sizes_left_out(results), key=lambda item: item[1])
    ]


def recorded_on(recordings: Sequence[Recording]) -> str:
    """Say where and when the guide measured what stands in its columns, and what the columns mean."""
    described = "; ".join(
        f"{machine_name(each)}, the median of {each.n_starts} run{'s' * (each.n_starts > 1)}, the latest on "
        f"{each.provenance.utc_date[:10]}, with {each.provenance.n_cpus} virtual CPUs of an "
        f"{each.provenance.cpu.partition(' (')[0]}"
        for each in recordings
    )
    return (
        f"Beside your times are the guide's: {described}. 'share' is of that machine's own peak memory "
        f"speed, 'here/{machine_name(recordings[0])}' your time divided by the guide's."
    )


def findings_here(
    findings: Sequence[Finding], studies: dict[str, Results], recordings: Sequence[Recording], width: int
) -> list[str]:
    """Say of each finding of a page whether it holds here; of what was not checked, how many and why."""
    page = recordings[0]
    own = judge(findings, page.studies, page.studies)
    here = judge(findings, studies, page.studies)
    lines: list[str] = []
    unchecked: dict[str, list[Verdict]] = {}
    for verdict, there in zip(here, own, strict=True):
        if verdict.result.holds is None:
            # Of "'grid' was not measured at 2^24 (no GPU on this machine)" the reason.
            reason = re.search(r"was not measured at .+? \((.*)\)$", verdict.why)
            unchecked.setdefault(reason[1] if reason else verdict.why, []).append(verdict)
            continue
        word = "holds:   " if verdict.result.holds else "not here:"
        text = verdict.result.text
        if len(page.studies) == 1:
            (study,) = page.studies.values()
            text = text.removeprefix(f"{study.title}: ")
        figures = f"{_figure(verdict)} here, {_figure(there)} on the {machine_name(page)}"
        lines.append(_filled(f"{word} {text}: {figures}", width))
    lines += [
        _filled(f"not checked, {len(verdicts)} of {len(here)}: {why}", width)
        for why, verdicts in unchecked.items()
    ]
    return lines


def _figure(verdict: Verdict) -> str:
    # The one nearest to the factor decides.
    compared = [figure.found for figure in verdict.figures if figure.found.unit == verdict.result.unit]
    if not compared:
        return "not decided"
    shown, low = min(compared, key=lambda quantity: quantity.value), verdict.result.low
    down_to = "" if low is None else format_quantity(low, verdict.result.unit)
    if verdict.result.holds or down_to in ("", str(shown)):
        return str(shown)
    return f"{shown}, down to {down_to},"


def _filled(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent=" " * 12, break_on_hyphens=False)


def _with_numbered_remarks(table: Table) -> tuple[Table, list[str]]:
    """Put remarks and reasons below the table, each once: in their rows they would make it twice as wide."""
    numbers: dict[str, str] = {}

    def numbered(row: Row) -> Row:
        words = str(row.raw["reason"] if row.raw["reason"] else row.cells["remarks"])
        number = numbers.setdefault(words, f"({len(numbers) + 1})") if words else ""
        if row.reason:
            return replace(row, reason=f"not measured {number}")
        return replace(row, cells={**row.cells, "remarks": number})

    rows = tuple(map(numbered, table.rows))
    return replace(table, rows=rows, notes=()), [f"{number} {words}" for words, number in numbers.items()]


def _beside(table: Table, results: Results, study: Results, machine: str) -> Table:
    """Add columns with the guide's time and share of a machine, and the ratio of the time here to it."""
    key = len(table.columns)
    keys = {name: f"{name} {key}" for name in ("time", "share", "ratio")}
    headings = {"time": machine, "share": "share", "ratio": f"here/{machine}"}

    def beside(row: Row) -> Row:
        size, variant, clock = (row.raw[name] for name in ("size", "variant", "clock"))
        time = _time(study, variant, size, clock)
        if time is None:
            return row
        here = _time(results, variant, size, clock)
        cells = {
            "time": str(time),
            "share": _share(study, variant, size) if clock == "device" else "",
            "ratio": format_quantity(here.value / time.value, "ratio") if here else "",
        }
        # What the guide has stands there, though it was not measured here.
        mine = row.cells or {"median": "–", "remarks": ""}
        return replace(row, reason="", cells={**mine, **{keys[name]: text for name, text in cells.items()}})

    at = 1 + max(i for i, each in enumerate(table.columns) if each.key.split()[0] in ("share", "ratio"))
    more = [Column(keys[name], headings[name], numeric=True) for name in keys]
    columns = (*table.columns[:at], *more, *table.columns[at:])
    return replace(table, columns=columns, rows=tuple(map(beside, table.rows)))


def _time(study: Results, variant: object, size: object, clock: object) -> Quantity | None:
    try:
        return study.time(variant, size, clock)  # type: ignore[arg-type]
    except GpuGuideError:
        return None  # no such size, or none of this variant


def _share(study: Results, variant: object, size: object) -> str:
    share = study.share(variant, size)  # type: ignore[arg-type]
    return "" if share is None else str(share)
