"""A trace as readers see it: as text for a terminal, as HTML with drawings for a notebook."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from gpuguide.tracer.counts import Counts, counted
from gpuguide.tracer.findings import Finding, count
from gpuguide.tracer.memory import Array
from gpuguide.tracer.run import Run

if TYPE_CHECKING:
    from gpuguide.tracer.picture import Picture

__all__ = ["Trace"]

_WIDTH = 78
_MOST_SHOWN = 3


class _Part(NamedTuple):
    """A part of what is shown, for a terminal and for a notebook."""

    text: str
    html: str


@dataclass(repr=False)
class Trace:
    """A launch of a kernel, traced thread by thread: what is wrong with it, and what it did.

    It prints as text, and in a notebook with drawings.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, the most important first; empty if nothing is. Each has ``kind``, ``text``, ``line``,
        ``array``, ``element``, ``thread`` and ``block``.
    kernel : str
        Name of the kernel.
    label : str
        The launch in words.
    arrays : dict of str to Array
        The arrays as the kernel left them.
    notes : tuple of str
        Sentences on what was left out.

    Examples
    --------
    >>> from gpuguide import tracer
    >>> file = tracer.load('''
    ... from numba import cuda
    ... @cuda.jit
    ... def total(x, out):
    ...     out[0] += x[cuda.threadIdx.x]
    ... ''')
    >>> trace = tracer.launch(file.total, 1, 2, [tracer.array([1, 2], "int32"), tracer.array([0], "int32")])
    >>> print(trace)
    total, 1 block of 2 threads: 1 finding
    <BLANKLINE>
      Threads 0 and 1 of block 0 both change out[0] in line 5 with no barrier
      between, so one of the changes can be lost.
    <BLANKLINE>
        5 |     out[0] += x[cuda.threadIdx.x]
    <BLANKLINE>
    Which threads touch out in line 5
    thread of block 0  0   1
    out[0]             rw! rw!
    r reads, w writes; ! one of these writes, and nothing makes it wait for the
    other
    <BLANKLINE>
    Look at this next: Nothing says which of the two threads comes first. Can the
    element have one writer, or does a barrier between the two accesses (within a
    block) or a cuda.atomic operation help?
    """

    findings: tuple[Finding, ...]
    kernel: str
    label: str
    arrays: dict[str, Array]
    notes: tuple[str, ...] = ()
    filename: str = ""
    n_blocks: int = 0
    run: Run | None = field(default=None, repr=False)

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def printed(self) -> str:
        """What the kernel printed, the first 20 lines of it."""
        if self.run is None or not self.run.printed:
            return ""
        left = self.run.n_printed - len(self.run.printed)
        return "\n".join([*self.run.printed, *([f"... and {count(left, 'more line')}"] if left else [])])

    @cached_property
    def counts(self) -> Counts:
        """Accesses, sectors per request, bank conflicts, atomic operations and turns of loops."""
        return Counts() if self.run is None else counted(self.run, self.n_blocks)

    def drawing(self, finding: Finding) -> str:
        """Draw a finding as text: threads above, elements below; empty if there is nothing to draw."""
        from gpuguide.tracer.drawing_text import draw_text

        return draw_text(partial(self._picture, finding))

    def svg(self, finding: Finding) -> str:
        """Draw a finding as SVG; empty if there is nothing to draw."""
        from gpuguide.tracer.drawing_svg import draw_svg

        return draw_svg(partial(self._picture, finding))

    def quote(self, finding: Finding) -> str:
        """Return the lines of the source that a finding names, with their numbers."""
        texts = {line: linecache.getline(self.filename, line).rstrip() for line in finding.lines}
        width = max((len(str(line)) for line in texts), default=0)
        return "\n".join(f"{line:>{width}} | {text}" for line, text in texts.items() if text)

    def _picture(self, finding: Finding, most: int) -> Picture | None:
        if self.run is None:
            return None
        from gpuguide.tracer.picture import picture

        worst = {"uncoalesced": "global_request", "bank_conflict": "shared_request"}.get(finding.kind)
        return picture(self.run, finding, getattr(self.counts, worst) if worst else None, most)

    def __str__(self) -> str:
        return "\n\n".join(part.text for part in self._parts(html=False) if part.text)

    def __repr__(self) -> str:
        """Return what is wrong without quotes and drawings."""
        shown = [f"  {finding.text}" for finding in self.findings[:_MOST_SHOWN]]
        return "\n".join([self._title, *shown])

    @property
    def _title(self) -> str:
        verdict = count(len(self.findings), "finding") if self.findings else "no findings"
        return f"{self.kernel}, {self.label}: {verdict}"

    def _repr_html_(self) -> str:
        inner = "".join(part.html for part in self._parts(html=True))
        return f'<div class="gpuguide-verdict">{inner}</div>'

    def _parts(self, *, html: bool) -> Iterator[_Part]:
        """Yield what is shown from top to bottom; it is drawn only in the way that is shown."""
        yield _Part(self._title, f"<p><strong>{escape(self._title)}</strong></p>")
        if self.findings:
            first, *others = self.findings
            yield _paragraph(first.text, indent="  ")
            yield _code(self.quote(first))
            yield _Part("", self.svg(first)) if html else _Part(self.drawing(first), "")
            for other in others[: _MOST_SHOWN - 1]:
                yield _paragraph(f"Also: {other.text}", indent="  ")
            if len(others) >= _MOST_SHOWN:
                yield _paragraph(f"And {len(others) - _MOST_SHOWN + 1} more.", indent="  ")
            yield _paragraph(f"Look at this next: {first.question}")
        elif self.run is not None:
            yield _paragraph(str(self.counts))
        if self.printed:
            yield _paragraph("The kernel printed:")
            yield _code(self.printed)
        for note in self.notes:
            yield _paragraph(note)


def _paragraph(text: str, indent: str = "") -> _Part:
    lines = textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return _Part("\n".join(lines), f"<p>{escape(text)}</p>")


def _code(text: str) -> _Part:
    return _Part(textwrap.indent(text, "    "), f"<pre>{escape(text)}</pre>") if text else _Part("", "")
