"""Measure pages: ``python -m gpuguide_docs.record.recorder [PAGE ...]``, one process per page."""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, PagesError, read_pages
from gpuguide_docs.record.needs import Machine, lacking, this_machine
from gpuguide_docs.record.process import Outcome, run_process
from gpuguide_docs.record.provenance import commit_of
from gpuguide_docs.record.trials import keep_recorded

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording

__all__ = [
    "Course",
    "Interrupted",
    "chosen_pages",
    "fewest_starts_first",
    "former_recordings",
    "former_times",
    "interruptible",
    "main",
    "told",
]

BUDGET_SPENT = 3
# Of what a page took before, this much it takes with the fewest samples, too. A page that was never recorded
# counts as a tenth of the budget.
_FEWEST_SAMPLES = 0.7
_UNKNOWN = 0.1
# What is shorter would read 0.0 s.
_LEAST_SHOWN_S = 0.05
_DESCRIPTION = """Measure pages on this machine, one process per page.

A page that crashes, hangs, or fails its gate keeps its former recording; the others are recorded, and the
exit status is 1. When what is left of the budget is too little for the next page, the rest is left out and
the status is 3. Pages with the fewest machine starts come first; the budget is shared in proportion to what
the pages took before. If you interrupt the
recorder, it stops the running page, and that page keeps its former recording. A page that needs more than
this machine has is left out, with the reason.
"""


def chosen_pages(layout: Layout, names: Sequence[str]) -> list[Page]:
    """Give the pages to record, in teaching order."""
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
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="write there, not to the recordings")
    parser.add_argument("--allow-cpu", action="store_true", help="record without a GPU; needs --machine")
    return parser.parse_args(argv)


class _Recorder:
    """Runs one child process at a time."""

    def __init__(self, layout: Layout, arguments: argparse.Namespace, folder: Path) -> None:
        from gpuguide.measure.provenance import start_of_recording

        self.arguments = arguments
        self.folder = folder
        self.common = ["--root", str(layout.root), "--commit", commit_of(layout.root)]
        # Asked once: where the kernel does not tell, each answer is another.
        self.common += ["--start", start_of_recording()]
        self.common += ["--machine", arguments.machine] if arguments.machine else []
        self.common += ["--into", str(arguments.into.resolve())] if arguments.into else []
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


class Recorder(Protocol):
    """Records one page within some seconds, and says how that ended."""

    def record(self, page: Page, budget_s: float) -> Outcome:
        """Record one page within a share of the budget."""
        ...


@dataclass
class Course:
    """The pages of one call of the recorder: what is left of the budget, and what came of each."""

    recorder: Recorder
    budget_s: float
    took_s: Mapping[str, float]
    now: Callable[[], float] = time.monotonic
    machine: Machine = field(default_factory=Machine)
    outcomes: list[Outcome] = field(default_factory=list, init=False)
    left_out: list[Page] = field(default_factory=list, init=False)
    skipped: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._start = self.now()

    def run(self, pages: Sequence[Page], say: Callable[[str], None]) -> None:
        """Record pages in their order, each within its share of what is left."""
        for page in pages:
            if reason := lacking(page.needs, self.machine):
                self.skipped[page.name] = reason
                say(f"{page.name}: left out: it {reason}")
        pages = [page for page in pages if page.name not in self.skipped]
        for i, page in enumerate(pages):
            left_s = self.budget_s - (self.now() - self._start)
            # The first is begun however small the budget is.
            if i and left_s < self._least_s(page):
                self.left_out = list(pages[i:])
                return
            self.outcomes.append(self.recorder.record(page, left_s * self._share(page, pages[i:])))
            say(told(self.outcomes[-1]))

    def _least_s(self, page: Page) -> float:
        """Return what a page takes at least: less is not worth a start."""
        took_s = self.took_s.get(page.name)
        return _UNKNOWN * self.budget_s if took_s is None else _FEWEST_SAMPLES * took_s

    def _share(self, page: Page, waiting: Sequence[Page]) -> float:
        """Return the page's part of the time that it and those after it will take."""
        middle = statistics.median(self.took_s.values()) if self.took_s else 1.0
        weights = [self.took_s.get(each.name, middle) for each in waiting]
        return self.took_s.get(page.name, middle) / sum(weights)


def told(outcome: Outcome) -> str:
    """Say in one line how a page ended, and where its seconds went."""
    if not outcome.ok:
        what = outcome.message
    elif outcome.n_runs:
        what = f"recorded (run {outcome.n_runs}, machine start {outcome.n_starts})"
    else:
        what = "ran, not kept"
    return f"{outcome.page}: {what} in {outcome.seconds:.1f} s{_phases(outcome.phases)}"


def _phases(phases: Mapping[str, float]) -> str:
    """Name the phases that show at a tenth of a second, the longest first."""
    longest = sorted(phases.items(), key=lambda phase: -phase[1])
    shown = ", ".join(f"{name} {seconds:.1f}" for name, seconds in longest if seconds >= _LEAST_SHOWN_S)
    return f": {shown}" if shown else ""


def former_recordings(pages: Sequence[Page], machine: str, root: Path) -> dict[str, Recording]:
    """Read what was recorded of pages on a machine."""
    from gpuguide.errors import GpuGuideError
    from gpuguide.recordings import store as recordings

    found = {}
    for page in pages:
        # One of another format, or damaged, is about to be replaced.
        with suppress(GpuGuideError):
            recording = recordings.load_or_none(page.name, machine, root)
            if recording is not None:
                found[page.name] = recording
    return found


def former_times(former: Mapping[str, Recording]) -> dict[str, float]:
    """Look up how long the newest run of each page took."""
    times = {name: recording.provenance.run_time_s for name, recording in former.items()}
    return {name: seconds for name, seconds in times.items() if seconds}


def fewest_starts_first(pages: Sequence[Page], former: Mapping[str, Recording], layout: Layout) -> list[Page]:
    """Order pages by the machine starts that their present code was recorded on, and else as they are."""
    from gpuguide.recordings import store as recordings

    def n_starts(page: Page) -> int:
        recording = former.get(page.name)
        if recording is None or recordings.staleness(recording, page.script(layout), layout.source):
            return 0
        return recording.n_starts

    return sorted(pages, key=n_starts)


def _summary(course: Course) -> str:
    done = {True: "recorded", False: "ran, not kept"}
    rows = [
        (each.page, done[bool(each.n_runs)] if each.ok else "FAILED", f"{each.seconds:.1f} s")
        for each in course.outcomes
    ]
    rows += [(page.name, "not begun", "budget spent") for page in course.left_out]
    rows += [(name, "left out", reason) for name, reason in course.skipped.items()]
    width = max((len(name) for name, _, _ in rows), default=0)
    lines = [f"  {name:{width}}  {state:13}  {note}" for name, state, note in rows]
    for each in course.outcomes:
        lines += [f"  {each.page}: {each.message} (its former recording stays)"] if not each.ok else []
        lines += [f"  {each.page}: warning: {warning}" for warning in each.warnings]
    total: Counter[str] = Counter()
    for each in course.outcomes:
        total.update(dict(each.phases))
    seconds = sum(each.seconds for each in course.outcomes)
    return "\n".join([*lines, f"  all pages: {seconds:.1f} s{_phases(total)}"])


class Interrupted(KeyboardInterrupt):
    """The recorder was told to end; holds the number of the signal."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the signals by which a process is told to end raise `Interrupted`, so that its page ends first."""

    def raise_it(number: int, frame: object) -> None:
        raise Interrupted(number)

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    former = {name: signal.signal(getattr(signal, name), raise_it) for name in names}
    try:
        yield
    finally:
        for name, handler in former.items():
            signal.signal(getattr(signal, name), handler)


def main(argv: Sequence[str] | None = None) -> int:
    """Record pages and say how each ended."""
    from gpuguide.errors import ArgumentError, GpuGuideError
    from gpuguide.recordings import store as recordings

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
        course = Course(recorder, arguments.budget, {})
        try:
            with interruptible():
                machine = arguments.machine
                if not arguments.allow_cpu:
                    ceilings = recorder.measure_ceilings()
                    if not ceilings.ok:
                        print(f"Nothing recorded: {ceilings.message}", file=sys.stderr)
                        return 2
                    print(f"ceilings: measured in {ceilings.seconds:.1f} s", flush=True)
                    machine = ceilings.machine
                    course.machine = this_machine()
                former = former_recordings(pages, machine, layout.recorded)
                course.took_s = former_times(former)
                pages = fewest_starts_first(pages, former, layout)
                course.run(pages, lambda line: print(line, flush=True))
        except Interrupted as interruption:
            print(_summary(course))
            print("Interrupted: the page was stopped and keeps its former recording.", file=sys.stderr)
            return 128 + int(interruption.args[0])
    print(_summary(course))
    if not (arguments.into or arguments.quick):
        keep_recorded(layout.recorded, machine, former)
        recordings.renew_spread(machine, layout.recorded)
    if course.left_out:
        return BUDGET_SPENT
    return 0 if all(each.ok for each in course.outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
