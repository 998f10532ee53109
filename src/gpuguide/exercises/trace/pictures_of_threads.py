"""Pictures of threads that stand at barriers, and of threads whose index lies outside an array."""

from __future__ import annotations

from collections.abc import Sequence

from gpuguide.exercises.trace.faults import Remark
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.geometry import Geometry
from gpuguide.exercises.trace.picture import Axis, Picture, Touched, composed
from gpuguide.exercises.trace.regions import Region
from gpuguide.exercises.trace.scene import LETTERS, label_of_threads, title_of_threads
from gpuguide.exercises.trace.standstill import FAILED, RETURNED
from gpuguide.exercises.trace.trace import Trace
from gpuguide.exercises.trace.wording import element

__all__ = ["of_a_barrier", "of_indices"]

#: Elements at the end of a vector whose rightful users are shown, too.
_NEAR = 3
_NOT_WAITING = {RETURNED: "has returned", FAILED: "has failed"}


def of_a_barrier(geometry: Geometry, remark: Remark, most: int) -> Picture:
    """Show where the threads of a block stand; neighbours that stand together count as one.

    Parameters
    ----------
    geometry : Geometry
        Of the launch.
    remark : Remark
        On a barrier.
    most : int
        Groups of threads to show at most.

    Returns
    -------
    Picture
        Groups of threads above, the places where they stand below.
    """
    groups = _runs(remark.states)
    states = sorted({state for _, state in remark.states}, key=lambda state: (state <= 0, state))
    numbers = [thread for thread, _ in remark.states]
    label = label_of_threads(geometry, numbers)
    touched = [Touched(first, states.index(state), "x", state != states[0]) for first, _, state in groups]
    names = {
        first: label(first) if first == last else f"{label(first)}-{label(last)}" for first, last, _ in groups
    }
    firsts = [first for first, _, _ in groups]
    return composed(
        "Where the threads of one block stand",
        title_of_threads(geometry, numbers),
        touched,
        Axis(firsts, names.__getitem__, [first for first, last, _ in groups if _holds(first, last, remark)]),
        Axis(range(len(states)), lambda row: _standing(states[row]), range(len(states))),
        most=most,
        mark="not where the others stand",
    )


def _runs(states: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Return first and last thread and state of each run of neighbours in the same state."""
    runs: list[tuple[int, int, int]] = []
    for thread, state in states:
        if runs and runs[-1][2] == state:
            runs[-1] = (runs[-1][0], thread, state)
        else:
            runs.append((thread, thread, state))
    return runs


def _holds(first: int, last: int, remark: Remark) -> bool:
    return any(first <= thread <= last for thread in remark.threads)


def _standing(state: int) -> str:
    return _NOT_WAITING.get(state) or f"line {state}"


def of_indices(trace: Trace, finding: Finding, remarks: Sequence[Remark], most: int) -> Picture:
    """Show which threads ask for elements that an array does not have, or has at its other end.

    Parameters
    ----------
    trace : Trace
        Of the launch.
    finding : Finding
        On one of these threads.
    remarks : sequence of Remark
        On all of them, the lowest thread first.
    most : int
        Threads to show at most.

    Returns
    -------
    Picture
        Threads above; below, marked, the elements asked for, and of a vector its end.
    """
    region = next(each for each in trace.record.setting.regions if each.name == finding.array)
    letter = "w" if remarks[0].what.startswith("writes") else "r"
    touched, rows = (_by_number if len(region.shape) == 1 else _by_index)(region, remarks, letter)
    if len(region.shape) == 1:
        touched += _neighbours(trace, finding, region, remarks)
    geometry = trace.record.setting.geometry
    threads = sorted({each.thread for each in touched})
    return composed(
        f"Which threads ask for which elements of {region.name} in line {finding.line}",
        title_of_threads(geometry, threads),
        touched,
        Axis(threads, label_of_threads(geometry, threads), [remarks[0].thread]),
        rows,
        most=most,
        notes=_ends(region, remarks),
        mark="no such element" if finding.kind == "out_of_range" else "counted from the end",
    )


def _by_index(region: Region, remarks: Sequence[Remark], letter: str) -> tuple[list[Touched], Axis]:
    """Let there be a row for each element asked for, in ascending order."""
    asked = sorted({remark.index for remark in remarks})
    touched = [Touched(remark.thread, asked.index(remark.index), letter, True) for remark in remarks]
    centre = [asked.index(remarks[0].index)]
    return touched, Axis(range(len(asked)), lambda row: element(region.name, asked[row]), centre)


def _by_number(region: Region, remarks: Sequence[Remark], letter: str) -> tuple[list[Touched], Axis]:
    """Let the rows of a vector go on before its first and behind its last element."""
    touched = [Touched(remark.thread, remark.index[0], letter, True) for remark in remarks]
    numbers = [remark.index[0] for remark in remarks]
    last = region.shape[0] - 1
    ends = {end for end in _ends(region, remarks) if 0 <= end <= last}
    span = range(min(0, *numbers), max(last, *numbers) + 1)
    return touched, Axis(span, lambda row: element(region.name, [row]), sorted({*ends, numbers[0]}))


def _ends(region: Region, remarks: Sequence[Remark]) -> dict[int, str]:
    """Return what is to be said of the rows of a vector."""
    if len(region.shape) != 1 or not region.shape[0]:
        return {}
    extent = region.shape[0]
    notes = {extent - 1: "the last element"} if any(remark.index[0] >= extent for remark in remarks) else {}
    for number in (remark.index[0] for remark in remarks):
        if number < 0:
            notes |= {0: "the first element"}
            if number >= -extent:
                notes |= {number: f"in Numba {element(region.name, [number + extent])}"}
    return notes


def _neighbours(trace: Trace, finding: Finding, region: Region, remarks: Sequence[Remark]) -> list[Touched]:
    """Return what other threads rightly do in the same line near the ends of a vector."""
    record = trace.record
    number = record.setting.regions.index(region)
    memory = record.memory
    chosen = memory[(memory.region == number) & (memory.line == finding.line)]
    rows = (chosen.address - region.base - region.start) // (region.steps[0] or 1)
    wrong = {remark.thread for remark in remarks}
    ends = [end for end in _ends(region, remarks) if end >= 0]
    return [
        Touched(thread, row, LETTERS[kind])
        for thread, row, kind in zip(chosen.thread.tolist(), rows.tolist(), chosen.kind.tolist(), strict=True)
        if thread not in wrong and any(abs(row - end) < _NEAR for end in ends)
    ]
