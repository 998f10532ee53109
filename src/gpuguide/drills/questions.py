"""One question on a finding: what to look at next, and not the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuguide.tracer import QUESTIONS, Array, Finding, Trace

__all__ = ["of_function", "of_kernel"]

#: Where nothing is to be asked, the sentence on what is wrong says it all.
_OF_FUNCTIONS = {
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
}

_OF_KERNELS = {
    **QUESTIONS,
    "gpu": (
        "A GPU does not check indices, and runs blocks in any order. Which line could depend on who comes "
        "first?"
    ),
}


def of_function(finding: Finding) -> str:
    """Return what to ask about a function of the host; empty if there is nothing to ask."""
    return _OF_FUNCTIONS.get(finding.kind, "")


def of_kernel(finding: Finding, trace: Trace, arguments: Mapping[str, Any]) -> str:
    """Return what to ask about a launch, whose arguments bear the reader's names."""
    array = arguments.get(finding.array)
    special = ""
    if trace.run is not None and finding.kind in ("out_of_range", "negative_index"):
        special = _of_index(finding, array, trace.run.grid.block[0])
    elif finding.kind == "wrong" and array is not None:
        special = _of_result(finding, array)
    return special or _OF_KERNELS.get(finding.kind, "")


def _of_index(finding: Finding, array: Array | None, threads: int) -> str:
    if array is None:
        return (
            "An array that the kernel makes has the length that it is given, whatever the block. What is the "
            "largest index that a thread uses, and is there room for it?"
        )
    if array.size == 0:
        return "The array has no elements here, and that is allowed. What should a thread do then?"
    if len(finding.element) > 1:
        return (
            "Which number of the index is too small or too large, and does it count along the right axis? "
            "What should a thread do whose element, or the neighbour of whose element, does not exist?"
        )
    far = finding.element[0] - (finding.block[0] * threads + finding.thread[0])
    if far == 0:
        return ""
    if abs(far) <= 2:
        return "Where is this thread's place, and what should it do if that has no such neighbour?"
    return (
        f"The index {finding.element[0]} is not the thread's own place in the grid. Where does it come from, "
        "how small or large can it become, and which condition keeps it inside the array?"
    )


def _of_result(finding: Finding, array: Array) -> str:
    written = array.memory.written
    if written is None or not finding.element:
        return ""
    cell = array.start + sum(i * step for i, step in zip(finding.element, array.steps, strict=True))
    if cell in written:
        return ""
    return (
        "Which thread should write this element? Is there such a thread in this grid, and which condition "
        "keeps it from writing?"
    )
