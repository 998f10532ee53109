"""What judging an answer found: findings as data, and where they showed."""

from __future__ import annotations

from dataclasses import dataclass

from gpuguide.tracer.findings import Finding
from gpuguide.tracer.trace import Trace

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """What judging an answer found.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, the most important first; empty if the answer is right.
    about : str
        The launch or call that showed it, or, of a right answer, the one that is drawn.
    n_right : int
        Launches or calls that were right.
    question : str
        What to look at next; empty if there is nothing to ask.
    note : str
        A sentence on a right answer.
    printed : str
        What the reader's code printed.
    trace : Trace or None
        The launch that failed, or the one with the most threads.
    """

    findings: tuple[Finding, ...] = ()
    about: str = ""
    n_right: int = 0
    question: str = ""
    note: str = ""
    printed: str = ""
    trace: Trace | None = None
