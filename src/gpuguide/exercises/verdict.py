"""The verdict on an answer, for a terminal and for a notebook: what is wrong, where, and one question."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from gpuguide.exercises.answer import Answer
from gpuguide.exercises.model import Exercise, KernelExercise
from gpuguide.exercises.report import Finding, Report
from gpuguide.tracer import Finding as KernelFinding
from gpuguide.tracer.findings import count

__all__ = ["Verdict"]

_WIDTH = 78


@dataclass(frozen=True, repr=False)
class Verdict:
    """The verdict on an answer: ``print`` shows it as text, a notebook with a drawing.

    Attributes
    ----------
    exercise : Exercise
        What was asked for.
    answer : Answer
        The reader's, whose lines are quoted.
    report : Report
        What judging it found.
    gpu : str
        What a GPU said, if it was asked.

    Examples
    --------
    >>> from gpuguide.exercises import check, get
    >>> verdict = check("guard", get("guard").start)
    >>> verdict.passed, verdict.findings[0].kind
    (False, 'out_of_range')
    """

    exercise: Exercise
    answer: Answer
    report: Report
    gpu: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def findings(self) -> tuple[Finding | KernelFinding, ...]:
        """What is wrong, the most important first."""
        return self.report.findings

    def __str__(self) -> str:
        return "\n\n".join(part.text for part in self._parts(html=False) if part.text)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html(calls=True)

    def html(self, *, calls: bool = False) -> str:
        """Return it with a drawing, and with the calls that show hints and solution to a notebook."""
        parts = [part.html for part in self._parts(html=True) if calls or not isinstance(part, _Command)]
        return f'<div class="gpuguide-verdict">{"".join(parts)}</div>'

    def _parts(self, *, html: bool) -> Iterator[_Part | _Command]:
        """Yield the verdict from top to bottom; it is drawn only in the way that is shown."""
        yield _title(f"{self.exercise.name}: {'passed' if self.passed else 'not yet'}")
        yield from self._success() if self.passed else self._failure(html=html)
        if self.report.printed:
            yield _paragraph("Your code printed:")
            yield _code(self.report.printed)

    def _success(self) -> Iterator[_Part | _Command]:
        report, name = self.report, self.exercise.name
        called = "launch" if isinstance(self.exercise, KernelExercise) else "call"
        right = count(report.n_right, called, called + "es" if called == "launch" else "")
        yield _paragraph(f"{right}, all with the right results. {self.gpu}".rstrip())
        if report.trace is not None:
            yield _paragraph(f"{report.about}: {report.trace.counts}")
        yield _paragraph(report.note)
        yield _paragraph(f"What it shows: {self.exercise.teaches}")
        yield _command(
            "Compare with the solution",
            f"show {name} --solution",
            f'print(gpuguide.exercises.get("{name}").solution)',
        )

    def _failure(self, *, html: bool) -> Iterator[_Part | _Command]:
        first, *others = self.findings
        if self.report.about:
            yield _paragraph(f"{self.report.about}{self._right_before()}:")
        yield _paragraph(first.text, indent="  ")
        yield _code(self._quoted(first))
        trace = self.report.trace
        # Of what is done too often there is no picture.
        if trace is not None and isinstance(first, KernelFinding) and first.kind != "limit":
            yield _Part("", trace.svg(first)) if html else _Part(trace.drawing(first), "")
        # One of the same kind mostly says the same again.
        for other in [each for each in others if each.kind != first.kind][:1]:
            yield _paragraph(f"Also: {other.text}", indent="  ")
        if first.question:
            yield _paragraph(f"Look at this next: {first.question}")
        if self.exercise.hints:
            name = self.exercise.name
            yield _command("A hint", f"hint {name}", f'print(gpuguide.exercises.get("{name}").hints[0])')

    def _right_before(self) -> str:
        n = self.report.n_right
        noun = "launch" if isinstance(self.exercise, KernelExercise) else "call"
        if n < 2:
            return f" (the {noun} before it was right)" * n
        return f" (the {n} {noun}{'es' if noun == 'launch' else 's'} before it were right)"

    def _quoted(self, finding: Finding | KernelFinding) -> str:
        """Return the reader's lines that a finding names, with their numbers."""
        rows = [(line, self.answer.line(line)) for line in finding.lines]
        rows = [(line, text) for line, text in rows if text.strip()]
        width = max((len(str(line)) for line, _ in rows), default=0)
        return "\n".join(f"{line:>{width}} | {text}" for line, text in rows)


class _Part(NamedTuple):
    text: str
    html: str


class _Command(NamedTuple):
    """A part that a page with buttons of its own leaves out."""

    text: str
    html: str


def _title(text: str) -> _Part:
    return _Part(text, f"<p><strong>{escape(text)}</strong></p>")


def _paragraph(text: str, indent: str = "") -> _Part:
    if not text:
        return _Part("", "")
    wrapped = textwrap.fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return _Part(wrapped, f"<p>{escape(text)}</p>")


def _code(text: str) -> _Part:
    return _Part(textwrap.indent(text, "    "), f"<pre>{escape(text)}</pre>") if text else _Part("", "")


def _command(what: str, command: str, call: str) -> _Command:
    """Name a command; a notebook, which has no command line, gets a call."""
    return _Command(f"{what}: gpuguide exercises {command}", f"<p>{what}: <code>{escape(call)}</code></p>")
