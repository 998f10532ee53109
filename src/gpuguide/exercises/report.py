"""What one lane says about an answer, and the same as JSON on its way out of a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gpuguide.exercises.simulator.drawing_svg import draw_svg
from gpuguide.exercises.simulator.drawing_text import draw_text
from gpuguide.exercises.simulator.findings import Finding, ThreadId
from gpuguide.exercises.simulator.trace import Trace, Work

__all__ = ["FAILED", "NOT_AT_HAND", "PASSED", "LaneReport"]

PASSED, FAILED, NOT_AT_HAND = "passed", "failed", "not at hand"


@dataclass(frozen=True)
class LaneReport:
    """What one lane says about an answer.

    Attributes
    ----------
    lane : str
        ``"simulator"``, ``"compile"`` or ``"gpu"``.
    state : str
        ``"passed"``, ``"failed"`` or ``"not at hand"``.
    reason : str
        Why the lane is not at hand.
    findings : tuple of Finding
        What is wrong, the most important first; empty if it passed.
    call : str
        The launch that showed it, in words.
    n_calls : int
        Launches that were right.
    notes : tuple of str
        Sentences on what was found and what could not be judged.
    printed : str
        What the reader's own code printed in a worker process.
    stats : Work or None
        Figures of the launch with the most work (simulator).
    stats_call : str
        That launch, in words.
    trace : Trace or None
        The launch that failed, or the one with the most work, to draw from (simulator).
    result : str
        An array that the kernel writes, as it calls it (simulator).

    >>> LaneReport("gpu", NOT_AT_HAND, "There is no GPU.").passed
    False
    """

    lane: str
    state: str
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    call: str = ""
    n_calls: int = 0
    notes: tuple[str, ...] = ()
    printed: str = ""
    stats: Work | None = None
    stats_call: str = ""
    trace: Trace | None = field(default=None, repr=False, compare=False)
    result: str = ""

    @property
    def passed(self) -> bool:
        """Whether the lane judged the answer and found nothing wrong."""
        return self.state == PASSED

    @property
    def drawing(self) -> str:
        """The first finding as a text drawing, or the result if all is right; empty if there is none."""
        return draw_text(self.trace, self._shown) if self.trace and self._shown else ""

    @property
    def svg(self) -> str:
        """The same as SVG."""
        return draw_svg(self.trace, self._shown) if self.trace and self._shown else ""

    @property
    def _shown(self) -> Finding | str:
        return self.findings[0] if self.findings else self.result

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` reads; figures and the trace, which only the simulator has, stay behind."""
        kept = ("lane", "state", "reason", "call", "n_calls", "notes", "printed")
        findings = [asdict(finding) for finding in self.findings]
        return {**{name: getattr(self, name) for name in kept}, "findings": findings}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LaneReport:
        """Rebuild a report.

        >>> report = LaneReport("compile", "passed", notes=("14 registers per thread.",))
        >>> LaneReport.from_json(report.as_json()) == report
        True
        """
        findings = tuple(_finding(each) for each in data["findings"])
        return cls(
            str(data["lane"]),
            str(data["state"]),
            str(data["reason"]),
            findings,
            call=str(data["call"]),
            n_calls=int(data["n_calls"]),
            notes=tuple(str(note) for note in data["notes"]),
            printed=str(data["printed"]),
        )


def _finding(data: Mapping[str, Any]) -> Finding:
    threads = tuple(ThreadId(tuple(block), tuple(thread)) for block, thread in data["threads"])
    return Finding(
        data["kind"],
        data["message"],
        line=data["line"],
        lines=tuple(data["lines"]),
        array=data["array"],
        index=tuple(data["index"]),
        threads=threads,
    )
