"""The directive ``your-run``: where a reader's own run is laid beside the guide's numbers, in the browser."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.charts.style import PALETTE
from gpuguide.charts.things import looks_of
from gpuguide.health import THINGS, recorded_machines
from gpuguide.recordings.recording import machine_name
from gpuguide_docs.show.site import Site, site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.results import Results

__all__ = ["NUMBERS", "YourRunDirective", "numbers_of", "setup"]

NUMBERS = "guide_numbers.js"
"""File of all times of the guide: a script, because a page that lies on a disk may load no data."""

_SCRIPT = "your_run.js"
# A chart of a page's own, and the variants that it names.
_CHART = re.compile(r"plot_(time|rate|bars)\([\s#]*\w+(?:,[\s#]*(?:variants=)?\[([^\]]*)\])?")
_MOST_LINES = 6


def numbers_of(site: Site, env: Any, base: str) -> dict[str, Any]:
    """Give the times of each page whose recording is current, on each machine that recorded its code."""
    pages = {}
    for page in site.pages:
        if page.format != "script":
            continue
        state = site.state(page.name, env)
        recordings = [each for each in (state.shown, *state.others) if each is not None]
        if not recordings or not recordings[0].studies:
            continue
        first = recordings[0]
        charts = _CHART.findall(page.script(site.layout).read_text(encoding="utf-8"))
        named = [(kind, re.findall(r"\w+", names)) for kind, names in charts]
        pages[page.name] = {
            "title": page.title,
            "address": f"{base}{page.docname}.html",
            "machines": [machine_name(each) for each in recordings],
            "topics": dict(first.key.topics),
            "studies": {
                name: _study(name, study, recordings, named) for name, study in first.studies.items()
            },
        }
    return {"pages": pages}


def _study(
    name: str, study: Results, recordings: list[Recording], charts: Sequence[tuple[str, list[str]]]
) -> dict[str, Any]:
    words = {key: getattr(study, key) for key in ("title", "dtype", "size_name", "cache")}
    others = [each.studies.get(name) for each in recordings[1:]]
    cells = []
    for size in study.sizes:
        for info in study.variants:
            times = [_time(each, info.name, size) for each in (study, *others)]
            if times[0] is not None:
                cells.append([info.name, info.clock, size, info.label or info.name, *times])
    return {**words, "cells": cells, "chart": _chart(study, charts)}


def _chart(study: Results, charts: Sequence[tuple[str, list[str]]]) -> dict[str, Any]:
    """Give what is drawn: the variants of the page's own charts, else the first and the fastest, and how."""
    names = [info.name for info in study.variants]
    own = [(kind, chosen) for kind, chosen in charts if chosen and set(chosen) <= set(names)]
    fastest = sorted(names[1:], key=lambda name: _time(study, name, study.sizes[-1]) or math.inf)
    chosen = [name for _, of_chart in own for name in of_chart] or [names[0], *fastest]
    chosen = list(dict.fromkeys(chosen))[:_MOST_LINES]
    looks = {
        name: [f"light-dark({look.colour}, {PALETTE[look.colour]})", _dashes(look.dashes)]
        for name, look in looks_of(study, chosen).items()
    }
    kinds = {kind for kind, _ in own}
    if "rate" not in kinds or "time" in kinds:
        return {"looks": looks}
    moved = {
        f"{name} {size}": round(rate.value * study.time(name, size).value)
        for name in chosen
        for size in study.sizes
        if study.has(name, size) and (rate := study.rate(name, size))
    }
    return {"looks": looks, "bytes": moved}


def _dashes(line: Any) -> str:
    # Matplotlib's are in widths of the line.
    return "" if line == "-" else " ".join(f"{2 * length:g}" for length in line[1])


def _time(study: Results | None, variant: str, size: int) -> float | None:
    known = study is not None and size in study.sizes and any(i.name == variant for i in study.variants)
    if study is None or not known or not study.has(variant, size):
        return None
    # The table shows two digits, and two more leave no doubt how these are rounded.
    return float(f"{study.time(variant, size).value:.4g}")


class your_run_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """The place that the script fills."""


class YourRunDirective(SphinxDirective):
    """``.. your-run::`` takes a file that is dropped, and lists rates for who has no script."""

    def run(self) -> list[nodes.Node]:
        """Make room for the file, and list what the machines of the guide can do."""
        self.env.note_dependency(str(site_of(self.env).layout.pages_toml))
        machines = recorded_machines()
        group = nodes.tgroup("", cols=1 + len(machines))
        group += [nodes.colspec(colwidth=1) for _ in range(1 + len(machines))]
        group += nodes.thead("", _row(["rate or time", *machines]))
        rows = (_row([thing.title, *map(thing.words, machines.values())]) for thing in THINGS)
        group += nodes.tbody("", *rows)
        return [your_run_node(), nodes.table("", group)]


def _row(texts: list[str]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))


def _visit(writer: Any, _node: nodes.Node) -> None:
    writer.body.append('<div class="gg-your-run"></div>')
    raise nodes.SkipNode


def _add_scripts(
    app: Sphinx, pagename: str, _template: str, _context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write the numbers, and load both scripts, on the page that has the directive and on no other."""
    if doctree is None or next(doctree.findall(your_run_node), None) is None:
        return
    numbers = numbers_of(site_of(app.env), None, "../" * pagename.count("/"))
    text = json.dumps(numbers, ensure_ascii=False, separators=(",", ":"))
    path = app.outdir / "_static" / NUMBERS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"window.gpuguideNumbers = {text};\n", encoding="utf-8")
    for name in (NUMBERS, _SCRIPT):
        app.add_js_file(name, defer="defer")


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_node(your_run_node, html=(_visit, None))
    app.add_directive("your-run", YourRunDirective)
    app.connect("html-page-context", _add_scripts)
