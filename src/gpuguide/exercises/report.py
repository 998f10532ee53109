"""What judging an answer found: findings as data, and where they showed."""

from __future__ import annotations

from dataclasses import dataclass

from gpuguide.tracer import QUESTIONS, Trace
from gpuguide.tracer import Finding as KernelFinding

__all__ = ["Finding", "Report"]

#: Where nothing is to be asked, the sentence on what is wrong says it all.
_QUESTIONS = {
    "race": (
        "A stream does not know what another one is doing. Which event says that the earlier of the two "
        "steps has ended, and which stream has to wait for it?"
    ),
    "unfinished": (
        "Python goes on while the GPU works. Which stream ends last, and what lets Python wait for it?"
    ),
    "limit": "The result is right. Which line does more than the task allows, or waits longer?",
    "input_changed": "Others may still need what they passed in. Where could the new values go instead?",
    "endless": QUESTIONS["endless"],
    "gpu": "A GPU runs blocks in any order, and checks no index. Which line depends on who comes first?",
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a function of the host, or a text, as the tracer's are on kernels."""

    kind: str
    text: str
    lines: tuple[int, ...] = ()

    @property
    def question(self) -> str:
        """What to look at next; empty if there is nothing to ask."""
        return _QUESTIONS.get(self.kind, "")


@dataclass(frozen=True)
class Report:
    """What judging an answer found."""

    findings: tuple[Finding | KernelFinding, ...] = ()
    about: str = ""
    n_right: int = 0
    note: str = ""
    printed: str = ""
    trace: Trace | None = None
