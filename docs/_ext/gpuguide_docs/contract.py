"""``python -m gpuguide_docs.contract``: holds every page to the contract. Its table goes into reports."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from gpuguide.errors import GpuGuideError
from gpuguide_docs.contract_exercises import EXERCISE_RULES
from gpuguide_docs.contract_measured import MEASURED_RULES
from gpuguide_docs.contract_page import Finding, PageFacts, Rule
from gpuguide_docs.contract_rules import TEXT_RULES
from gpuguide_docs.layout import Layout
from gpuguide_docs.pages import Page, PagesError
from gpuguide_docs.prose import prose_lines
from gpuguide_docs.site import Site
from gpuguide_docs.typed_figures import find_typed_figures

__all__ = ["NEVER_WAIVED", "RULES", "PageReport", "check_page", "check_prose", "check_site", "main"]

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (*TEXT_RULES, *EXERCISE_RULES, *MEASURED_RULES),
        key=lambda rule: (rule.code[0] != "C", len(rule.code), rule.code),
    )
)
NEVER_WAIVED = ("C4", "C8", "C9", "C10")
_MOST_WAIVERS = 2
BY_HAND = "by hand"
#: Exercises state what an answer must keep to: at most 30 %, no more than 3 times.
_LIMIT = re.compile(r"typed (?:percentage|speed-up '(?:factor of [^']*|[^']* times)')")
NEEDS_A_GPU = "needs a GPU: a maintainer records this"


@dataclass
class PageReport:
    """What came of one page.

    Attributes
    ----------
    page : str
        Its name.
    status : str
        Of its recording; ``"by hand"`` for a page that has none.
    marks : dict of str to str
        Rule -> ``"ok"``, ``"fails"``, ``"waived"`` or ``"waits"`` (for a recording).
    findings : list of Finding
        What must be mended.
    waived : list of str
        Rules not held, with the reasons given.
    lacking : str
        Why there is no current recording; empty where there is one.
    excused : bool
        Whether the page stands in ``pending.toml``.
    """

    page: str
    status: str
    marks: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    waived: list[str] = field(default_factory=list)
    lacking: str = ""
    excused: bool = False


def check_page(site: Site, page: Page) -> PageReport:
    """Hold one page to the contract.

    Parameters
    ----------
    site : Site
        Of the project.
    page : Page
        To be checked.

    Returns
    -------
    PageReport
        Rules that need a recording wait where there is none.
    """
    source = page.source(site.layout)
    if not source.exists():
        missing = Finding(page.name, "C1", f"{source.relative_to(site.layout.root)} is missing")
        return PageReport(page.name, f"no {page.format}", findings=[missing])
    facts = PageFacts(site, page)
    if page.format == "myst":
        report = PageReport(page.name, BY_HAND)
    else:
        try:
            report = _recorded_report(facts)
        except GpuGuideError as error:
            return PageReport(page.name, "damaged", findings=[Finding(page.name, "recording", str(error))])
    report.findings += _waivers(page)
    for rule in RULES:
        if page.kind in rule.kinds and not (rule.recorded and page.format == "myst"):
            report.marks[rule.code] = _apply(rule, facts, report)
    return report


def _recorded_report(facts: PageFacts) -> PageReport:
    state = facts.state
    report = PageReport(facts.page.name, state.status, excused=state.status == "pending")
    if facts.recording is None:
        changed = f" (changed: {', '.join(state.changed)})" if state.changed else ""
        report.lacking = f"{state.status}{changed}{f' ({state.reason})' if state.reason else ''}"
    return report


def _apply(rule: Rule, facts: PageFacts, report: PageReport) -> str:
    if rule.recorded and facts.recording is None:
        return "waits"
    try:
        messages = list(rule.check(facts))
    except GpuGuideError as error:
        messages = [str(error)]
    if not messages:
        return "ok"
    if rule.code in facts.page.waivers and rule.code not in NEVER_WAIVED:
        report.waived.append(f"{rule.code} waived: {facts.page.waivers[rule.code]}")
        return "waived"
    report.findings += [Finding(facts.page.name, rule.code, message) for message in messages]
    return "fails"


def _waivers(page: Page) -> Iterator[Finding]:
    known = [rule.code for rule in RULES if rule.code.startswith("C")]
    for code in page.waivers:
        if code not in known:
            yield Finding(page.name, "waivers", f"{code!r} cannot be waived; known are {', '.join(known)}")
        if code in NEVER_WAIVED:
            yield Finding(page.name, "waivers", f"{code} is never waived")
    if len(page.waivers) > _MOST_WAIVERS:
        yield Finding(
            page.name, "waivers", f"{len(page.waivers)} waivers; at most {_MOST_WAIVERS} are allowed"
        )


def check_prose(layout: Layout) -> list[Finding]:
    """Look for typed figures outside of the gallery: loose pages, README, exercises, docstrings of topics.

    Parameters
    ----------
    layout : Layout
        Where the project lies.

    Returns
    -------
    list of Finding
        By file.
    """
    texts = [*sorted(layout.docs.glob("*.md")), *sorted(layout.docs.glob("*.rst")), layout.root / "README.md"]
    found = []
    for path in texts:
        if path.exists():
            markup = "rst" if path.suffix == ".rst" else "md"
            lines = prose_lines(path.read_text(encoding="utf-8"), markup)
            found += _figures(layout, path, lines)
    for path in sorted((layout.source / "gpuguide" / "exercises").rglob("*.md")):
        lines = prose_lines(path.read_text(encoding="utf-8"), "md")
        found += [finding for finding in _figures(layout, path, lines) if not _LIMIT.search(finding.message)]
    for path in sorted((layout.source / "gpuguide" / "topics").glob("*.py")):
        found += _figures(layout, path, list(_docstrings(path)))
    return found


def _figures(layout: Layout, path: Path, lines: list[tuple[int, str]]) -> list[Finding]:
    name = path.relative_to(layout.root).as_posix()
    hint = ", or rule for what the method lays down"
    return [Finding(name, "figures", f"{figure}{hint}") for figure in find_typed_figures(lines)]


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            first = getattr(node, "lineno", 0)
            for number, line in prose_lines(ast.get_docstring(node) or ""):
                if not line.lstrip().startswith((">>>", "...")):
                    yield first + number, line


def check_site(site: Site) -> tuple[list[PageReport], list[Finding]]:
    """Hold everything to the contract.

    Parameters
    ----------
    site : Site
        Of the project.

    Returns
    -------
    list of PageReport
        In teaching order.
    list of Finding
        What is outside of the gallery.
    """
    return [check_page(site, page) for page in site.pages], check_prose(site.layout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, print a table and what must be mended.

    Parameters
    ----------
    arguments : sequence of str, optional
        Of the command line.

    Returns
    -------
    int
        0 if the contract holds, also where only recordings lack (unless ``--strict``); else 1.
    """
    parser = argparse.ArgumentParser(prog="make check", description="Hold every page to the contract.")
    parser.add_argument("--strict", action="store_true", help="stale and missing recordings fail too")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="folder of the project")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 180, highlight=False)
    try:
        reports, others = check_site(Site(Layout(options.root)))
    except (GpuGuideError, PagesError) as error:
        console.print(str(error), markup=False)
        return 1
    _print(console, reports, others)
    return _verdict(console, reports, others, strict=options.strict)


def _print(console: Console, reports: list[PageReport], others: list[Finding]) -> None:
    table = Table(title="Contract", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("page", "recording", *(rule.code for rule in RULES)):
        table.add_column(heading, no_wrap=True)
    for report in reports:
        marks = (report.marks.get(rule.code, "") for rule in RULES)
        table.add_row(report.page, report.status, *(_SIGNS[mark] for mark in marks))
    console.print(table)
    console.print("+ holds   x fails   w waived   ? waits for a recording")
    for report in reports:
        for reason in report.waived:
            console.print(f"{report.page}: {reason}", markup=False)
    for finding in [*(each for report in reports for each in report.findings), *others]:
        console.print(f"{finding.page}: {finding.rule}: {finding.message}", markup=False, soft_wrap=True)


_SIGNS = {"ok": "+", "fails": "x", "waived": "w", "waits": "?", "": ""}


def _verdict(console: Console, reports: list[PageReport], others: list[Finding], *, strict: bool) -> int:
    lacking = [report for report in reports if report.lacking]
    for report in lacking:
        console.print(f"{report.page}: {report.lacking}; {NEEDS_A_GPU}", markup=False, soft_wrap=True)
    n_findings = sum(len(report.findings) for report in reports) + len(others)
    failing = [report for report in lacking if strict and not report.excused]
    console.print(f"{len(reports)} pages, {n_findings} findings, {len(lacking)} recordings lacking")
    return 1 if n_findings or failing else 0


if __name__ == "__main__":
    sys.exit(main())
