"""The verdict on an answer, for a terminal and for a notebook: what is wrong, where, and what to look at."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from gpuguide.exercises.model import Exercise, KernelTask
from gpuguide.exercises.reading import Answer
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, LaneReport
from gpuguide.exercises.simulator.findings import Finding, count
from gpuguide.exercises.simulator.judge import adds_up, never_written, too_narrow
from gpuguide.exercises.simulator.trace import Trace, Work
from gpuguide.exercises.wording import advice

__all__ = ["LANE_NAMES", "Verdict"]

LANE_NAMES = {"simulator": "Simulator", "compile": "Compiler", "gpu": "GPU"}
"""The lanes as a reader sees them."""

_DECIDES = {
    "simulator": "Only the simulator shows whether this exercise is solved.",
    "compile": "Only the code that the compiler makes shows whether this exercise is solved.",
    "gpu": "Only a GPU shows whether this exercise is solved.",
}

_WITHOUT_RESULTS = (
    "So it does not count as solved yet. Write the kernel without what the simulator lacks, or check it on a "
    "computer with an NVIDIA GPU."
)

_WIDTH = 78
_MOST_SHOWN = 3


@dataclass(frozen=True, repr=False)
class Verdict:
    """The verdict on an answer: ``print`` shows it as text, a notebook with a drawing.

    Attributes
    ----------
    exercise : Exercise
        What was asked for.
    reports : tuple of LaneReport
        One per lane, in the order of judging, up to the first that failed.
    answer : Answer or None
        The reader's function, whose lines are quoted.

    Examples
    --------
    >>> from gpuguide.exercises.pool import get
    >>> verdict = Verdict(get("guard"), (LaneReport("simulator", "passed", n_calls=18),))
    >>> verdict.passed, verdict.lanes
    (True, {'simulator': 'passed'})
    """

    exercise: Exercise
    reports: tuple[LaneReport, ...]
    answer: Answer | None = None

    @property
    def passed(self) -> bool:
        """Whether no lane found anything wrong, one checked results, and the deciding one was at hand."""
        return self._are_right and not self._undecided

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the first failing lane found wrong, the most important first."""
        return self._failed.findings if self._failed else ()

    @property
    def lanes(self) -> dict[str, str]:
        """``"passed"``, ``"failed"`` or ``"not at hand: ..."`` by lane."""
        return {
            report.lane: f"{report.state}: {report.reason}" if report.reason else report.state
            for report in self.reports
        }

    @property
    def stats(self) -> Work | None:
        """Figures of the launch with the most work in the simulator; None if it did not pass."""
        return next((report.stats for report in self.reports if report.stats is not None), None)

    @property
    def _are_right(self) -> bool:
        judged = any(report.passed and report.lane != "compile" for report in self.reports)
        return judged and self._failed is None

    @property
    def _lacks_results(self) -> bool:
        """Whether the simulator could not judge, and no other lane has."""
        tried = any(report.lane == "simulator" and report.state == NOT_AT_HAND for report in self.reports)
        return tried and self._failed is None and not self._are_right

    @property
    def _undecided(self) -> str:
        """The lane that would decide but did not judge; empty if it did, or if there is no such lane."""
        lane = self.exercise.decided_in
        return "" if any(report.lane == lane and report.passed for report in self.reports) else lane

    @property
    def _failed(self) -> LaneReport | None:
        return next((report for report in self.reports if report.state == FAILED), None)

    def __str__(self) -> str:
        parts = (part.text for part in self._parts(html=False))
        return "\n\n".join(part for part in parts if part)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        inner = "".join(part.html for part in self._parts(html=True))
        return f'<div class="gpuguide-verdict">{inner}</div>'

    def _parts(self, *, html: bool) -> Iterator[_Part]:
        """Yield the verdict from top to bottom; it is drawn only in the way that is shown."""
        yield _title(f"{self.exercise.name}: {'passed' if self.passed else self._not_passed()}")
        if self._failed is not None:
            yield from self._failure(self._failed, html=html)
        yield _table([_lane_row(report, self.exercise) for report in self.reports])
        if self._are_right and self._undecided:
            yield _paragraph(_DECIDES[self._undecided])
        if self._lacks_results and isinstance(self.exercise.task, KernelTask):
            yield _paragraph(_WITHOUT_RESULTS)
        for report in self.reports:
            if report.stats is not None and self.passed:
                yield _Part("", report.svg) if html else _Part(report.drawing, "")
                yield _paragraph(_figures(report.stats, report.stats_call))
            if report.printed:
                yield _paragraph("Your code printed:")
                yield _code(report.printed)
        if self.passed:
            yield _paragraph(f"What it shows: {self.exercise.teaches}")

    def _not_passed(self) -> str:
        if self._failed:
            return "not yet"
        return "right results, not fully judged" if self._are_right else "its results were not judged"

    def _failure(self, report: LaneReport, *, html: bool) -> Iterator[_Part]:
        first, *others = report.findings
        is_kernel = isinstance(self.exercise.task, KernelTask)
        # A function's findings begin with the case that it was called with.
        if is_kernel or report.lane == "gpu":
            yield _paragraph(_where(report))
        yield _paragraph(first.message, indent="  ")
        quoted = _quote(first, self.answer)
        if quoted:
            yield _code(quoted)
        yield _Part("", report.svg) if html else _Part(report.drawing, "")
        for other in others[: _MOST_SHOWN - 1]:
            yield _paragraph(f"Also: {other.message}", indent="  ")
        if len(others) >= _MOST_SHOWN:
            yield _paragraph(f"And {len(others) - _MOST_SHOWN + 1} more.", indent="  ")
        next_step = advice(
            _kind(first, report),
            kernel=is_kernel,
            n_axes=len(first.index) or 1,
            index=_of_which(first, report.trace),
        )
        yield _paragraph(f"Look at this next: {next_step}")
        if self.exercise.hints:
            yield _hint(self.exercise.name)


@dataclass(frozen=True)
class _Part:
    text: str
    html: str


def _hint(exercise: str) -> _Part:
    """Say how to see a hint, depending on where the verdict is shown: a notebook has no command line."""
    command = f"gpuguide exercises show {exercise} --hint 1"
    return _Part(
        f"A hint: {command}",
        "<p>A hint: folded below in the guide's notebooks, or "
        f"<code>print(gpuguide.exercises.get(&quot;{escape(exercise)}&quot;).hints[0])</code></p>",
    )


def _title(text: str) -> _Part:
    return _Part(text, f"<p><strong>{escape(text)}</strong></p>")


def _paragraph(text: str, indent: str = "") -> _Part:
    lines = textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return _Part("\n".join(lines), f"<p>{escape(text)}</p>")


def _code(text: str) -> _Part:
    return _Part(textwrap.indent(text, "    "), f"<pre>{escape(text)}</pre>")


def _table(rows: list[tuple[str, str]]) -> _Part:
    """Return rows of a lane's name and what it says."""
    width = max((len(name) for name, _ in rows), default=0) + 2
    lines = [
        textwrap.fill(f"{name:{width}}{text}", _WIDTH, subsequent_indent=" " * width, break_on_hyphens=False)
        for name, text in rows
    ]
    # Notebooks would align sentences to the right, as they do with numbers.
    left = 'style="text-align: left; vertical-align: top"'
    cells = "".join(
        f'<tr><th scope="row" {left}>{escape(name)}</th><td {left}>{escape(text)}</td></tr>'
        for name, text in rows
    )
    return _Part("\n".join(lines), f"<table><tbody>{cells}</tbody></table>")


def _lane_row(report: LaneReport, exercise: Exercise) -> tuple[str, str]:
    name = LANE_NAMES[report.lane]
    if report.state == NOT_AT_HAND:
        return name, f"not at hand. {report.reason}{_left_out(report.lane, exercise)}"
    # "Simulator failed" would sound as if the simulator were broken.
    said = "not passed: see above" if report.state == FAILED else report.state
    if report.passed and report.n_calls:
        said += _launches(report.n_calls)
    return name, " ".join([f"{said}.", *report.notes])


def _left_out(lane: str, exercise: Exercise) -> str:
    """Say what was not judged because a lane is not at hand; empty if another lane judged all of it."""
    task = exercise.task
    if lane != "compile" or not isinstance(task, KernelTask) or exercise.decided_in == lane:
        return ""
    asked = task.limits.float64_instructions
    return "" if asked is None else " What the task asks of the compiled code was not judged."


def _launches(n: int) -> str:
    return ": 1 launch, with the right results" if n == 1 else f": {n} launches, all with the right results"


def _where(report: LaneReport) -> str:
    """Say in which lane and launch the first mistake showed."""
    place = {"simulator": "In the simulator", "compile": "For the compiler", "gpu": "On the GPU"}[report.lane]
    call = f", with {report.call}" if report.call else ""
    before = ""
    if report.n_calls:
        before = (
            " (the launch before it was right)"
            if report.n_calls == 1
            else (f" (the {report.n_calls} launches before it were right)")
        )
    return f"{place}{call}{before}:"


def _kind(finding: Finding, report: LaneReport) -> str:
    """Return what to advise on: the same finding has several causes, and each needs another question."""
    trace = report.trace
    if trace is None or finding.kind not in ("wrong", "out_of_range", "negative_index"):
        return finding.kind
    if finding.kind == "wrong":
        if never_written(trace, finding):
            return "never_written"
        if too_narrow(trace, finding):
            return "narrow"
        return "added_up" if adds_up(trace, finding) else "wrong"
    return _of_index(finding, trace)


def _of_index(finding: Finding, trace: Trace) -> str:
    """Return what to advise on for an index that an array does not have."""
    named = [region for region in trace.regions if region.name == finding.array]
    if any(0 in region.shape for region in named):
        return "no_elements"
    own = any(region.space != "global" for region in named)
    if own and finding.kind == "out_of_range":
        return "too_short"
    if len(finding.index) != 1 or not finding.threads:
        return finding.kind
    if not _by_place(finding, trace):
        return "beyond_the_end"
    if finding.kind == "negative_index":
        return finding.kind
    sizes = {math.prod(region.shape) for region in named}
    blocks = trace.geometry.blocks
    return "one_a_block" if sizes == {blocks} and blocks > 1 else "out_of_range"


def _by_place(finding: Finding, trace: Trace) -> bool:
    """Say whether the threads concerned ask for their own place, or for one before it."""
    geometry = trace.geometry
    is_global = any(each.name == finding.array and each.space == "global" for each in trace.regions)
    asked = trace.remarks.get(finding, ())
    for axis, width in enumerate(geometry.block[: len(finding.threads[0].thread)]):
        places = []
        for remark in asked:
            who = geometry.thread_id(remark.thread)
            places.append(is_global * width * who.block[axis] + who.thread[axis])
        if finding.kind == "negative_index":
            # What is before a thread's place is before the array for the first threads, and for no others.
            if set(places) == set(range(len(set(places)))):
                return True
        elif all(remark.index == (place,) for remark, place in zip(asked, places, strict=True)):
            return True
    return False


def _of_which(finding: Finding, trace: Trace | None) -> str:
    """Name the index of a finding, and how long its array is."""
    region = next((each for each in trace.regions if each.name == finding.array), None) if trace else None
    if region is None or len(finding.index) != 1:
        return "This index"
    return f"The index {finding.index[0]}, where {region.name} has {count(region.shape[0], 'element')},"


def _quote(finding: Finding, answer: Answer | None) -> str:
    """Return the reader's lines that a finding names, with their numbers."""
    if answer is None:
        return ""
    rows = [(line, answer.line(line)) for line in finding.lines]
    shown = [(line, text) for line, text in rows if text.strip()]
    width = max((len(str(line)) for line, _ in shown), default=0)
    return "\n".join(f"{line:>{width}} | {text}" for line, text in shown)


def _figures(stats: Work, call: str) -> str:
    """Say how a launch used memory."""
    said = [
        f"The launch with the most work ({call}): {stats.threads:,} threads made {_accesses(stats)} global "
        f"memory, {stats.bytes_read:,} bytes read and {stats.bytes_written:,} written."
    ]
    if stats.sectors_per_request:
        n = f"{stats.sectors_per_request:.3g}"
        said.append(
            f"A request of a warp touched {n} sector{'s' if n != '1' else ''} of 32 bytes at its worst line."
        )
    if stats.shared_bytes:
        passes = (
            "no bank conflict"
            if stats.bank_conflict_degree == 1
            else (f"bank conflicts of degree {stats.bank_conflict_degree}")
        )
        barriers = "1 barrier" if stats.barriers == 1 else f"{stats.barriers} barriers"
        said.append(
            f"A block used {stats.shared_bytes:,} bytes of shared memory, with {passes} and {barriers}."
        )
    return " ".join(said)


def _accesses(stats: Work) -> str:
    counted = [(stats.reads, "read"), (stats.writes, "write"), (stats.atomics, "atomic operation")]
    words = [f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counted if n or noun != "atomic operation"]
    joined = " and ".join(words) if len(words) == 2 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f"{joined} of"
