"""Compares one traced launch with the limits of an exercise: how memory was used, and by how many threads."""

from __future__ import annotations

from collections.abc import Iterator

from gpuguide.exercises.compare import arrays
from gpuguide.exercises.model import Call, Limits
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.trace import ArrayStats, Trace, TraceStats

__all__ = ["over_limits"]

_WARP = 32


def over_limits(limits: Limits, call: Call, trace: Trace) -> list[Finding]:
    """Return where a launch with right results exceeds the limits of the exercise.

    Parameters
    ----------
    limits : Limits
        Of the exercise.
    call : Call
        The launch. Coalescing is judged only if the arrays are contiguous; how many threads work, and whether
        they diverge, only if there are as many elements as threads.
    trace : Trace
        What it did.

    Returns
    -------
    list of Finding
        Empty when all is within the limits.
    """
    stats = trace.stats
    found = [*_conflicts(limits, call, trace), *_repeated(limits, stats), *_waiting(limits, stats)]
    return [*found, *_threads(limits, stats)] if _fills(call, stats) else found


def _conflicts(limits: Limits, call: Call, trace: Trace) -> Iterator[Finding]:
    contiguous = all(x.flags.c_contiguous for x in arrays(call.arguments).values())
    if limits.sectors_per_request is not None and contiguous:
        finding = trace.uncoalesced(limits.sectors_per_request)
        if finding is not None:
            yield finding
    if limits.bank_conflicts is not None:
        finding = trace.bank_conflicts(limits.bank_conflicts)
        if finding is not None:
            yield finding


def _repeated(limits: Limits, stats: TraceStats) -> Iterator[Finding]:
    """Yield arrays of global memory whose elements are read or written too often."""
    # An atomic operation counts as a read and a write, and repeating it on one element is its purpose.
    for array in (array for array in stats.arrays if array.space == "global" and not array.atomics):
        for verb, times, most in _counts(limits, array):
            if most is not None and times > most:
                yield Finding(
                    "limit",
                    f"An element of {array.name} is {verb} {_times(times)}, where {_times(most)} "
                    f"{'is' if most == 1 else 'are'} allowed.",
                    array=array.name,
                )


def _counts(limits: Limits, array: ArrayStats) -> Iterator[tuple[str, int, int | None]]:
    yield "read", array.reads_per_element, limits.reads_per_element
    yield "written", array.writes_per_element, limits.writes_per_element


def _waiting(limits: Limits, stats: TraceStats) -> Iterator[Finding]:
    """Yield whatever makes threads wait longer than needed: barriers, atomics, one long loop."""
    if limits.barriers is not None and stats.barriers > limits.barriers:
        passed = _count(stats.barriers, "barrier")
        yield Finding("limit", f"A block passes {passed}, where {_allowed(limits.barriers)}.")
    if limits.atomics is not None and stats.atomics > limits.atomics:
        done = _count(stats.atomics, "atomic operation")
        yield Finding("limit", f"The launch makes {done} on global memory, where {_allowed(limits.atomics)}.")
    if limits.loop_turns is not None and stats.loop_turns > limits.loop_turns:
        turns = _count(stats.loop_turns, "turn")
        yield Finding(
            "limit",
            f"A thread makes {turns} of loops, where {_allowed(limits.loop_turns)}: share the work.",
        )


def _fills(call: Call, stats: TraceStats) -> bool:
    """Say whether each thread of a launch has an element, and there is more than one warp."""
    return stats.threads > _WARP and any(x.size == stats.threads for x in arrays(call.arguments).values())


def _threads(limits: Limits, stats: TraceStats) -> Iterator[Finding]:
    """Yield too many idle threads, and too many branches at which the threads of a warp diverge."""
    working = round(stats.active_threads * stats.threads)
    if limits.active_threads is not None and working < limits.active_threads * stats.threads:
        yield Finding(
            "limit",
            f"Only {_count(working, 'thread')} of {stats.threads} touched the arrays, although there is an "
            "element for each.",
        )
    if limits.divergent_branches is not None and stats.divergent_branches > limits.divergent_branches:
        yield Finding(
            "limit",
            f"The threads of a warp diverge at {stats.divergent_branches:.0%} of the branches that they "
            f"meet; at most {limits.divergent_branches:.0%} are allowed.",
        )


def _allowed(most: int) -> str:
    return {0: "none is needed", 1: "1 is allowed"}.get(most, f"{most} are allowed")


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
