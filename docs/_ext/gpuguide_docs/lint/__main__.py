"""``make check``: holds the pages against the rules, and says what to do next."""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sphinx.errors import ExtensionError

from gpuguide.errors import GpuGuideError
from gpuguide.recordings import harness
from gpuguide.symptoms import PATH, symptoms
from gpuguide_docs.lint.prose import Paragraph, markdown_paragraphs
from gpuguide_docs.lint.rules import PageText, Problem, Recorded, page_problems, recorded, typed_figures
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, PagesError
from gpuguide_docs.show.site import Site

__all__ = ["Report", "main", "other_problems", "page_report"]

#: Exercises state what an answer must keep to: at most 30 %, no more than 3 times.
_LIMIT = re.compile(r"typed (?:percentage|speed-up '(?:factor of [^']*|[^']* times)')")
BY_HAND = Recorded("written by hand")


@dataclass(frozen=True)
class Report:
    """What is said of one file: its problems, and of a page its lengths and its recording."""

    name: str
    path: str
    problems: list[Problem]
    lengths: tuple[int, int, int] = (0, 0, 0)
    recorded: Recorded = BY_HAND

    @property
    def fails(self) -> bool:
        """Whether something is to be mended."""
        return bool(self.problems) or self.recorded.fails


def page_report(site: Site, page: Page, *, strict: bool = False) -> Report:
    """Hold a page against all rules."""
    path = page.source(site.layout)
    where = path.relative_to(site.layout.root).as_posix()
    if not path.exists():
        return Report(page.name, where, [Problem(0, f"{where} is missing; write it")])
    try:
        text = PageText.read(page.kind, path, page.exercises)
    except SyntaxError as error:
        return Report(page.name, where, [Problem(error.lineno or 0, f"this is not Python: {error.msg}")])
    lengths = (text.words, text.code_lines, text.numbers)
    if page.format == "myst":
        return Report(page.name, where, page_problems(text), lengths)
    return Report(
        page.name, where, page_problems(text), lengths, recorded(site.state(page.name), strict=strict)
    )


def other_problems(layout: Layout) -> list[Report]:
    """Look for typed figures outside of the guide's pages, and for a change of the harness."""
    package = layout.source / "gpuguide"
    markdown = [*sorted(layout.docs.glob("*.md")), layout.root / "README.md"]
    markdown += sorted((package / "exercises").rglob("*.md"))
    prose = {
        path: markdown_paragraphs(path.read_text(encoding="utf-8")) for path in markdown if path.exists()
    }
    prose[PATH] = [Paragraph(0, text) for row in symptoms() for text in (row.cause, row.cure, row.more)]
    prose |= {path: list(_comments(path)) for path in sorted((package / "topics").rglob("*.py"))}
    reports = []
    for path, paragraphs in prose.items():
        problems = list(typed_figures(paragraphs))
        if path.is_relative_to(package / "exercises"):
            problems = [problem for problem in problems if not _LIMIT.match(problem.message)]
        if problems:
            name = path.relative_to(layout.root).as_posix()
            reports.append(Report(name, name, problems))
    if why := harness.problem(layout.source):
        reports.append(Report("harness", f"src/{harness.FILE}", [Problem(0, why)]))
    return reports


def _comments(path: Path) -> Iterator[Paragraph]:
    """Give docstrings without their examples, and the comments of kernels, which pages show."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            lines = (ast.get_docstring(node) or "").split("\n")
            kept = ["" if line.lstrip().startswith((">>>", "...")) else line for line in lines]
            yield from markdown_paragraphs("\n".join(kept), getattr(node, "lineno", 0) + 1)
    if path.name == "kernels.py":
        for number, line in enumerate(text.split("\n"), start=1):
            yield Paragraph(number, line.partition("#")[2])


def _print(text: str, indent: int = 0) -> None:
    """Print a text no wider than the terminal; names and addresses are not broken."""
    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    wrapper.initial_indent, wrapper.subsequent_indent = " " * indent, " " * (indent + 2)
    print(wrapper.fill(text))


def _print_problems(report: Report) -> None:
    for problem in report.problems:
        _print(f"{f'line {problem.line}: ' if problem.line else ''}{problem.message}", 2)


def _print_page(report: Report) -> None:
    words, code, numbers = report.lengths
    print(f"{report.name}, {report.path}")
    _print(f"{words} words (folds too), {code} lines of open code, {numbers} measured numbers", 2)
    _print(f"recording: {report.recorded.words}", 2)
    _print_problems(report)


def _print_all(reports: list[Report], others: list[Report]) -> None:
    print(f"{'page':<18}{'words':>6}{'code':>6}{'numbers':>9}{'problems':>10}  recording")
    for report in reports:
        columns = "{:>6}{:>6}{:>9}{:>10}".format(*report.lengths, len(report.problems) or "")
        _print(f"{report.name:<18}{columns}  {report.recorded.words}")
    for report in [*reports, *others]:
        if report.problems:
            print(f"\n{report.path}")
            _print_problems(report)


def _next(reports: list[Report], page: str, *, strict: bool) -> str:
    """Say what the person who ran it does next."""
    to_mend = [report for report in reports if report.recorded.fails and not report.recorded.needs_gpu]
    n_problems = len(to_mend) + sum(len(report.problems) for report in reports)
    names = " ".join(report.name for report in reports if report.recorded.needs_gpu)
    if n_problems:
        again = f"make check PAGE={page}" if page else "make check"
        what = f"{n_problems} problems" if n_problems > 1 else "problem"
        return f"Mend the {what} above, then {again}."
    if names:
        wanted = "Before it is published, a maintainer records this on a GPU"
        hand_in = "" if strict else " Nothing else is wrong: hand it in."
        return f'{wanted}, one run on each of three machine starts: make record PAGES="{names}".{hand_in}'
    return "Nothing to mend. Next: make lint and make test, then hand it in."


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report of one page or of all; 1 if something is to be mended, 2 for an unknown page."""
    parser = argparse.ArgumentParser(prog="make check", description=__doc__)
    parser.add_argument("page", nargs="?", default="", help="name of a page; all of them by default")
    parser.add_argument("--strict", action="store_true", help="as it must be to be published")
    options = parser.parse_args(argv)
    site = Site(Layout(Path.cwd()))
    try:
        pages = [site.page(options.page)] if options.page else site.pages
        reports = [page_report(site, page, strict=options.strict) for page in pages]
    except (GpuGuideError, PagesError, ExtensionError) as error:
        _print(str(error))
        return 2
    others = [] if options.page else other_problems(site.layout)
    if options.page:
        _print_page(reports[0])
    else:
        _print_all(reports, others)
    print()
    _print(_next([*reports, *others], options.page, strict=options.strict))
    return int(any(report.fails for report in [*reports, *others]))


if __name__ == "__main__":
    sys.exit(main())
