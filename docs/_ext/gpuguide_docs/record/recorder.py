"""Measure pages: ``python -m gpuguide_docs.record.recorder [PAGE ...]``, one process a page."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, PagesError, read_pages
from gpuguide_docs.record.process import Outcome, run_process
from gpuguide_docs.record.provenance import commit_of

__all__ = ["chosen_pages", "main"]

BUDGET_SPENT = 3
_LAST_START = 0.9
_DESCRIPTION = """Measure pages on this machine, one process a page.

A page that crashes, hangs, or fails its gate keeps its former recording; the others are recorded, and the
exit status is 1. At nine tenths of the budget the page in hand is finished and the status is 3.
"""


def chosen_pages(layout: Layout, names: Sequence[str]) -> list[Page]:
    """Give the pages to record, in teaching order.

    Parameters
    ----------
    layout : Layout
        Where the project lies.
    names : sequence of str
        As typed; none means all that have a script.

    Returns
    -------
    list of Page
        Each has a script.

    Raises
    ------
    gpuguide.errors.UnknownNameError
        If a name is not that of a page with a script; names the nearest.
    """
    from gpuguide.errors import unknown

    pages = [page for page in read_pages(layout) if page.script(layout).is_file()]
    known = [page.name for page in pages]
    for name in names:
        if name not in known:
            raise unknown("page", name, known)
    return [page for page in pages if not names or page.name in names]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gpuguide_docs.record.recorder",
        description=_DESCRIPTION,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="names of pages; all by default")
    parser.add_argument("--budget", type=float, default=600.0, metavar="S", help="seconds for all pages")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="seconds for one page")
    parser.add_argument("--machine", default="", metavar="SLUG", help="folder name; the GPU's by default")
    parser.add_argument("--quick", action="store_true", help="few samples, to try a page: nothing is kept")
    parser.add_argument("--allow-cpu", action="store_true", help="record without a GPU; needs --machine")
    return parser.parse_args(argv)


class _Recorder:
    """Runs one child process at a time.

    Parameters
    ----------
    layout : Layout
        Where the project lies.
    arguments : argparse.Namespace
        The command line.
    folder : pathlib.Path
        For messages between the processes.
    """

    def __init__(self, layout: Layout, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments = arguments
        self.folder = folder
        self.common = ["--root", str(layout.root), "--commit", commit_of(layout.root)]
        self.common += ["--machine", arguments.machine] if arguments.machine else []
        self.done = "ran, not kept" if arguments.quick else "recorded"
        self.ceilings = folder / "ceilings.json"
        self.peak = folder / "peak"

    def measure_ceilings(self) -> Outcome:
        """Measure what the machine can do, once for all pages; fails without a GPU."""
        return self._run("ceilings", ["--measure-ceilings", str(self.ceilings)])

    def record(self, page: Page, budget_s: float) -> Outcome:
        """Record one page within a share of the budget."""
        options = ["--page", page.name, "--budget", f"{budget_s:.3f}", "--peak", str(self.peak)]
        if self.ceilings.is_file():
            options += ["--ceilings", str(self.ceilings)]
        if self.arguments.quick:
            options.append("--quick")
        return self._run(page.name, options)

    def _run(self, what: str, options: list[str]) -> Outcome:
        return run_process(
            what,
            [*options, *self.common],
            outcome=self.folder / f"{what}.outcome.json",
            peak=self.peak,
            timeout_s=self.arguments.timeout,
        )


def _record_all(recorder: _Recorder, pages: list[Page], budget_s: float) -> tuple[list[Outcome], list[Page]]:
    start = time.monotonic()
    outcomes: list[Outcome] = []
    for i, page in enumerate(pages):
        left = budget_s - (time.monotonic() - start)
        if left < (1 - _LAST_START) * budget_s:
            return outcomes, pages[i:]
        outcome = recorder.record(page, left / (len(pages) - i))
        print(f"{page.name}: {recorder.done if outcome.ok else outcome.message}", flush=True)
        outcomes.append(outcome)
    return outcomes, []


def _summary(outcomes: list[Outcome], left_out: list[Page], done: str) -> str:
    rows = [(each.page, done if each.ok else "FAILED", f"{each.seconds:.1f} s") for each in outcomes]
    rows += [(page.name, "not begun", "budget spent") for page in left_out]
    width = max((len(name) for name, _, _ in rows), default=0)
    lines = [f"  {name:{width}}  {state:13}  {note}" for name, state, note in rows]
    for each in outcomes:
        lines += [f"  {each.page}: {each.message} (its former recording stays)"] if not each.ok else []
        lines += [f"  {each.page}: warning: {warning}" for warning in each.warnings]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Record pages and say what came of each.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        0 when all were recorded, 1 when one failed, 2 when nothing could be begun, 3 when the budget ended.
    """
    from gpuguide.errors import ArgumentError, GpuGuideError

    arguments = _arguments(argv)
    layout = Layout(Path.cwd())
    try:
        pages = chosen_pages(layout, arguments.pages)
        if arguments.allow_cpu and not arguments.machine:
            raise ArgumentError("--allow-cpu needs --machine SLUG: a name for what is not a GPU machine")
    except (GpuGuideError, PagesError) as error:
        print(f"Nothing recorded: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        recorder = _Recorder(layout, arguments, Path(folder))
        if not arguments.allow_cpu:
            ceilings = recorder.measure_ceilings()
            if not ceilings.ok:
                print(f"Nothing recorded: {ceilings.message}", file=sys.stderr)
                return 2
        outcomes, left_out = _record_all(recorder, pages, arguments.budget)
    print(_summary(outcomes, left_out, recorder.done))
    if left_out:
        return BUDGET_SPENT
    return 0 if all(each.ok for each in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
