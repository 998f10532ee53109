"""Shows a study as data before it runs: what is compared, on what, and what counts as right."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from gpuguide.plan import Plan, Variant
from gpuguide.units import format_size

__all__ = ["study_html", "study_text"]

_HEADINGS = ("variant", "runs on", "timed by", "bytes an element", "what it does")
_REGIONS = {
    "device": "GPU time, launch apart",
    "end_to_end": "host, until the result is there",
    "host": "host",
    "first_call": "first call in a fresh process",
}


def study_text(plan: Plan) -> str:
    """Return a study as text.

    Parameters
    ----------
    plan : Plan
        The study.

    Returns
    -------
    str
        Title, a table of the variants, and lines on sizes, inputs and tolerance.
    """
    rows = [_HEADINGS, *(_row(plan, variant) for variant in plan.variants)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADINGS) - 1)]
    table = [
        "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]
    return "\n".join([plan.title, "", *table, "", *(f"{name}: {text}" for name, text in _facts(plan))])


def study_html(plan: Plan) -> str:
    """Return a study as HTML: one table, and one paragraph a line of facts.

    Parameters
    ----------
    plan : Plan
        The study.

    Returns
    -------
    str
        Tables and paragraphs, no script, all text escaped.
    """
    head = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
    body = "".join(_html_row(_row(plan, variant)) for variant in plan.variants)
    facts = "".join(f"<p><strong>{name}</strong>: {escape(text)}</p>" for name, text in _facts(plan))
    return (
        f'<div class="gg-study"><table><caption>{escape(plan.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{facts}</div>"
    )


def _html_row(row: tuple[str, ...]) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in row[1:])
    return f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'


def _row(plan: Plan, variant: Variant) -> tuple[str, ...]:
    threads = {None: "", 1: ", 1 thread"}.get(variant.threads, f", {variant.threads} threads")
    runs_on = "GPU" if variant.needs_gpu else f"CPU{threads}"
    return variant.label, runs_on, _REGIONS[variant.clock], _bytes_an_element(plan, variant), variant.note


def _bytes_an_element(plan: Plan, variant: Variant) -> str:
    if variant.traffic is None:
        return ""
    n = plan.sizes[-1]
    return f"{variant.traffic(n, np.dtype(plan.dtype)).bytes_total / n:.3g}"


def _right(plan: Plan) -> str:
    within = plan.tolerance_note
    return within if within == "equal" else f"equal on exact inputs; on random ones within {within}"


def _facts(plan: Plan) -> Iterable[tuple[str, str]]:
    yield "Sizes", f"{', '.join(map(format_size, plan.sizes))} {plan.size_name} of {plan.dtype}"
    if plan.input_note:
        yield "Inputs", plan.input_note
    yield "Right means", plan.tolerance_note if plan.check else _right(plan)
    if plan.baseline:
        yield "Compared with", plan.variant(plan.baseline).label
    yield "Cache", plan.cache
