"""Judges a kernel by launches that are handed in as data: results, inputs, and the limits of an exercise."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gpuguide.exercises.simulator.findings import KINDS, Finding, count, element, joined, with_capital
from gpuguide.exercises.simulator.machine import ATOMIC, READ, WRITE, Event
from gpuguide.exercises.simulator.memory import View, c_steps
from gpuguide.exercises.simulator.number_rules import NumberType, shown
from gpuguide.exercises.simulator.results import first_changed, first_wrong
from gpuguide.exercises.simulator.scheduler import run
from gpuguide.exercises.simulator.source import Kernel
from gpuguide.exercises.simulator.trace import SECTOR_BYTES, Access, Figures, Instruction, Trace

if TYPE_CHECKING:
    from gpuguide.exercises.model import Limits

__all__ = ["Launch", "adds_up", "judge_launch", "never_written", "too_narrow", "with_writers"]

_WARP = 32
# After these, missing results are no news.
_ENDS_THE_LAUNCH = ("endless", "exception", "memory")
# After these, nothing is: threads went on that had not met.
_PARTS_THREADS = ("divergent_barrier", "missed_barrier", "missing_lane")
_FOLLOWS = ("race", "uninitialised", "input_changed")


@dataclass(frozen=True)
class Launch:
    """One launch that a kernel must get right, made anew for each run.

    Attributes
    ----------
    label : str
        The launch in words: ``"n = 33, 2 blocks of 32 threads"``.
    grid, block : tuple of int
        Blocks per grid and threads per block, x first.
    arguments : mapping
        A `memory.View` or a number by name, in the order of the parameters.
    expected : mapping
        The contents of the named arrays afterwards, in C order. An array that is not named must be unchanged,
        bit for bit.
    tolerance : float
        Largest absolute difference; 0 asks for equal values, where NaN equals NaN.
    shared_bytes : int
        Dynamic shared memory of a block, in bytes.

    Examples
    --------
    >>> from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
    >>> out = View.of(NUMBER_TYPES["float32"], [0, 0], (2,))
    >>> launch = Launch("n = 2, 1 block of 2 threads", (1,), (2,), {"n": 2, "out": out}, {"out": [0.0, 1.0]})
    >>> list(launch.views)
    ['out']
    """

    label: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Mapping[str, Any]
    expected: Mapping[str, list[Any]]
    tolerance: float = 0.0
    shared_bytes: int = 0

    @property
    def views(self) -> dict[str, View]:
        """The arrays among the arguments."""
        return {name: value for name, value in self.arguments.items() if isinstance(value, View)}


def judge_launch(
    kernel: Kernel, launch: Launch, limits: Limits, order: str = "forward"
) -> tuple[Trace, list[Finding]]:
    """Trace a kernel in one launch.

    Parameters
    ----------
    kernel : Kernel
        The reader's.
    launch : Launch
        Its arrays are changed.
    limits : Limits
        What the exercise requires besides right results.
    order : str
        As for `scheduler.run`.

    Returns
    -------
    Trace
        What the kernel did.
    list of Finding
        What is wrong, the most important first; limits are judged only where all else is right.

    Examples
    --------
    >>> from gpuguide.exercises.model import Limits
    >>> from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
    >>> from gpuguide.exercises.simulator.source import prepare
    >>> out = View.of(NUMBER_TYPES["float32"], [0, 0], (2,))
    >>> launch = Launch("n = 2, 1 block of 2 threads", (1,), (2,), {"out": out}, {"out": [1.0, 1.0]})
    >>> kernel = prepare("def ones(out): out[cuda.threadIdx.x] = 1 - cuda.threadIdx.x", usual_imports=True)
    >>> for finding in judge_launch(kernel, launch, Limits())[1]:
    ...     print(finding)
    out[1] should be 1.0 and is 0.0; 1 of 2 elements is wrong.
    """
    before = {name: list(view.memory.cells) for name, view in launch.views.items()}
    trace = run(
        kernel, launch.grid, launch.block, launch.arguments, order=order, shared_bytes=launch.shared_bytes,
        watch_doubles=limits.float64_instructions == 0,
        # A branch may keep a lane from a shuffle or a vote, whose names, and no others, hold "_sync".
        watch_branches=limits.divergent_branches is not None or "_sync" in kernel.source,
    )  # fmt: skip
    findings = [*trace.findings, *_changed_inputs(launch, before, trace)]
    if any(finding.kind in _PARTS_THREADS for finding in findings):
        findings = [finding for finding in findings if finding.kind not in _FOLLOWS]
    elif not any(finding.kind in _ENDS_THE_LAUNCH for finding in findings):
        wrong = _wrong_results(launch, trace)
        # Threads that were stopped leave out what they would have done: that is no cause.
        findings += (
            wrong if findings else [_with_cause(each, launch, before, limits, trace) for each in wrong]
        )
    if not findings and trace.depends_on_turns and kernel.taking_turns is not None:
        again, findings = _taking_turns(kernel.taking_turns, launch, before, order)
        trace = again if findings else trace
    if not findings:
        findings = [*_over_limits(kernel, limits, launch, trace)]
    findings = [_with_uncalled(finding, kernel) for finding in findings]
    findings = [_with_locks(finding, trace) for finding in findings]
    if refused := {finding.line for finding in findings if finding.kind == "compile"}:
        # No other lane will judge what Numba cannot compile, and what it says of a line is the cause.
        findings = [finding for finding in findings if finding.kind != "unsupported"]
        findings = [each for each in findings if each.kind != "exception" or each.line not in refused]
    return trace, sorted(findings, key=lambda finding: KINDS.index(finding.kind))


def _with_uncalled(finding: Finding, kernel: Kernel) -> Finding:
    """Add to a race that a barrier is named, but not called."""
    if finding.kind != "race" or not kernel.uncalled:
        return finding
    line, name = kernel.uncalled[0]
    cause = f" Line {line} names {name}, but does not call it: it lacks the parentheses."
    return replace(finding, message=finding.message + cause)


def _with_locks(finding: Finding, trace: Trace) -> Finding:
    """Add to a race on shared memory that the lock around it, a compare-and-swap, is not followed."""
    shared = {region.name for region in trace.regions if region.space == "shared"}
    # A swap out of range is none, and leaves nothing in the log, or what came next.
    events = [event for place, event in enumerate(trace.machine.log) if place in trace.machine.swaps]
    locks = {event[0].name for event in events if event[0] is not None and event[2] == ATOMIC}
    if finding.kind != "race" or finding.array not in shared or not shared & locks - {finding.array}:
        return finding
    cause = " A lock between threads of a block is not followed here: use an atomic operation instead."
    return replace(finding, message=finding.message + cause)


def _taking_turns(
    kernel: Kernel, launch: Launch, before: Mapping[str, list[Any]], order: str
) -> tuple[Trace, list[Finding]]:
    """Launch once more, where threads take turns at each atomic operation."""
    for name, view in launch.views.items():
        view.memory.cells[:] = before[name]
    trace = run(
        kernel, launch.grid, launch.block, launch.arguments, order=order, shared_bytes=launch.shared_bytes,
        watch_branches=False,
    )  # fmt: skip
    found = [*trace.findings, *_changed_inputs(launch, before, trace), *_wrong_results(launch, trace)]
    return trace, [_with_turns(each, trace) for each in found[:1]]


def _with_turns(finding: Finding, trace: Trace) -> Finding:
    """Add to a finding which two operations another thread came between."""
    cells = [access.cell for access in trace.memory if _is_on(access, finding)] if finding.array else []
    tries = [(cell, idle) for cell in (*cells[:1], None) for idle in (False, True)]
    parted = next(filter(None, (trace.parted(cell, idle=idle) for cell, idle in tries)), None)
    if parted is None:
        cause = " It happens when threads take turns: another one can come between two atomic operations."
        return replace(finding, kind="came_between", message=finding.message + cause)
    first, between, second = parted
    region, index = first.region, first.region.index_of(first.at)
    who = (trace.geometry.thread_id(first.thread), trace.geometry.thread_id(between.thread))
    lines = (first.line, second.line)
    cause = (
        f" {with_capital(str(who[1]))} comes between two operations of {who[0]} on "
        f"{element(region.name, index)}, {_both(first, second, trace)}; each of them is one step, "
        "but not both together."
    )
    return replace(
        finding, kind="came_between", message=finding.message + cause, line=min(lines), threads=who,
        lines=tuple(sorted({*lines})), array=region.name, index=index,
    )  # fmt: skip


def _is_on(access: Access, finding: Finding) -> bool:
    """Say whether an access is one of the element that a finding names."""
    return access.region.name == finding.array and access.region.index_of(access.at) == finding.index


def _both(first: Access, second: Access, trace: Trace) -> str:
    """Name two operations of a thread and their lines."""
    names = [_operation(access, trace) for access in (first, second)]
    if first.line != second.line and names[0] == names[1]:
        return f"the {names[0]}s in lines {first.line} and {second.line}"
    if first.line != second.line:
        return f"the {names[0]} in line {first.line} and the {names[1]} in line {second.line}"
    both = f"both {names[0]}s" if names[0] == names[1] else f"the {names[0]} and the {names[1]}"
    return f"{both} in line {first.line}"


def _operation(access: Access, trace: Trace) -> str:
    if access.position in trace.machine.swaps:
        return "compare-and-swap"
    return {READ: "read", WRITE: "write"}.get(access.kind, "atomic operation")


# --- Results --------------------------------------------------------------------------------------------


def _wrong_results(launch: Launch, trace: Trace) -> Iterator[Finding]:
    """Yield the first wrong element of each array that has one."""
    for name, expected in launch.expected.items():
        view, called = launch.views[name], trace.names[name]
        cells = [*view.cells()]
        finding = first_wrong(
            called,
            view.shape,
            [view.memory.cells[cell] for cell in cells],
            expected,
            tolerance=launch.tolerance,
            cast=view.memory.dtype.cast,
            is_untouched=lambda place: view.unset and not _written(trace, called, cells[place]),  # noqa: B023
        )
        if finding is not None:
            yield _with_unset(finding, view, trace)


def _with_unset(finding: Finding, view: View, trace: Trace) -> Finding:
    """Say of a wrong element that was only ever changed atomically that it held nothing to begin with."""
    cell = [*view.cells()][_place(finding, view)]
    held, machine = view.memory.cells[cell], trace.machine
    # What was no number stays none, unless it is replaced.
    if not view.unset or (isinstance(held, float) and not math.isnan(held)):
        return finding
    kinds = {
        kind if place not in machine.swaps else WRITE
        for place, (region, at, kind, *_) in enumerate(machine.log)
        if region is not None and region.memory is view.memory and at == cell and kind != READ
    }
    if kinds != {ATOMIC}:
        return finding
    cause = f" {finding.array} held nothing, not even zero, before it was changed atomically."
    return replace(finding, kind="uninitialised", message=finding.message + cause)


def _with_cause(
    finding: Finding, launch: Launch, before: Mapping[str, list[Any]], limits: Limits, trace: Trace
) -> Finding:
    """Add to a wrong result what shows in the launch as a whole."""
    finding = _with_absent_lanes(finding, launch, trace)
    if finding.kind == "wrong":
        said = _said_of_start(finding, launch, before, trace) or _said_of_rounding(finding, launch, trace)
        if said:
            return replace(finding, message=f"{finding.message} {said}")
        finding = _with_unread(finding, launch, trace, once=limits.reads_per_element == 1)
    if finding.kind == "wrong" and adds_up(trace, finding):
        said = _said_of_terms(finding, launch, limits, trace)
        return replace(finding, message=f"{finding.message} {said}".rstrip())
    if finding.kind == "wrong" and all(region.space != "shared" for region in trace.regions):
        finding = _with_inputs(finding, launch, trace)
    return finding


def adds_up(trace: Trace, finding: Finding) -> bool:
    """Say whether the result with a finding is one to which a kernel adds what it makes of all its inputs."""
    held = [region for region in trace.regions if region.name == finding.array and not region.unset]
    shapes = {region.shape for region in trace.regions if region.space == "global" and region not in held}
    return bool(held and shapes) and held[0].shape not in shapes


def _held_in(name: str, launch: Launch, before: Mapping[str, list[Any]]) -> list[Any]:
    return [before[name][cell] for cell in launch.views[name].cells()]


def _called_by(finding: Finding, trace: Trace) -> str:
    """Return the name that the exercise gives the array of a finding."""
    return next(name for name, called in trace.names.items() if called == finding.array)


def _said_of_start(finding: Finding, launch: Launch, before: Mapping[str, list[Any]], trace: Trace) -> str:
    """Say that what an array held at the start is lost, or added twice, if that is all that is wrong."""
    name = _called_by(finding, trace)
    view = launch.views[name]
    held, got, expected = _held_in(name, launch, before), view.values(), launch.expected[name]
    if view.unset or not any(held):
        return ""
    start = f"{element(finding.array, finding.index)} held {shown(held[_place(finding, view)])} at the start"
    triples = [*zip(held, got, expected, strict=True)]
    if all(_is_near(value, right - old) for old, value, right in triples):
        return f"{start}, which is lost: the kernel is to add to it."
    if all(_is_near(value, right + old) for old, value, right in triples):
        return f"{start}, which is added twice."
    return ""


def _said_of_rounding(finding: Finding, launch: Launch, trace: Trace) -> str:
    """Say that a number which only has to be copied was computed, which rounds it."""
    name = _called_by(finding, trace)
    view, expected = launch.views[name], launch.expected[name]
    place = _place(finding, view)
    if not isinstance(expected[place], float):
        return ""
    given = (launch.views[each].values() for each in launch.views if each not in launch.expected)
    is_copy = any(expected[place] in values for values in given)
    if not is_copy or launch.tolerance or not _is_near(view.values()[place], expected[place]):
        return ""
    return "Only the rounding differs: copy the number as it is, and do not compute it anew."


def _said_of_terms(finding: Finding, launch: Launch, limits: Limits, trace: Trace) -> str:
    """Say which elements of the inputs count too often or not at all, as far as that shows."""
    for name in (each for each in launch.views if each not in launch.expected):
        counts, called = [*map(len, _readers(name, launch, trace).values())], trace.names[name]
        if counts and not any(counts):
            return f"No thread reads {called}."
        if len({*counts}) > 1:
            most, least = max(counts), min(counts)
            first, other = (_element_at(counts.index(n), name, launch, trace) for n in (most, least))
            return f"{first} is read by {count(most, 'thread')}, and {other} by {least or 'none'}."
    events = [event for event in trace.machine.log if event[0] is not None and event[0].space != "local"]
    warp_of = trace.geometry.warp_of
    giving = {warp_of(event[5].thread) for event in events if event[2] != READ}
    silent = sorted({event[5].thread for event in events if warp_of(event[5].thread) not in giving})
    if silent:
        who = with_capital(str(trace.geometry.thread_id(silent[0])))
        return f"{who} reads its share, and no thread of its warp writes anything."
    return " ".join(str(found) for found in _atomics(limits, trace.figures, trace))


def _is_near(value: Any, other: Any) -> bool:
    """Say whether two numbers are equal but for rounding."""
    return abs(float(value) - float(other)) <= 1e-6 * abs(float(other))


def _place(finding: Finding, view: View) -> int:
    """Return the place of a finding's element in C order."""
    return sum(map(operator.mul, finding.index, c_steps(view.shape)))


def _element_at(place: int, name: str, launch: Launch, trace: Trace) -> str:
    """Write the element at a place in C order."""
    shape = launch.views[name].shape
    index = tuple(place // step % n for n, step in zip(shape, c_steps(shape), strict=True))
    return element(trace.names[name], index)


def _readers(name: str, launch: Launch, trace: Trace) -> dict[int, set[int]]:
    """Return the threads that read each element of an array, in C order."""
    view = launch.views[name]
    readers: dict[int, set[int]] = {cell: set() for cell in view.cells()}
    for region, at, kind, _, _, segment, _ in trace.machine.log:
        if region is not None and region.memory is view.memory and kind != WRITE and at in readers:
            readers[at].add(segment.thread)
    return readers


def _with_inputs(finding: Finding, launch: Launch, trace: Trace) -> Finding:
    """Add to a wrong result what its thread made it of, where it reads just one element of an input."""
    events = [event for event in trace.machine.log if event[0] is not None]
    writers = {
        segment.thread for region, at, kind, _, _, segment, _ in events
        if kind != READ and region.name == finding.array and region.index_of(at) == finding.index
    }  # fmt: skip
    names, parts = [trace.names[name] for name in launch.views if name not in launch.expected], []
    for name in names if len(writers) == 1 else ():
        read = {(each[0], each[1]) for each in events if each[0].name == name and each[5].thread in writers}
        for region, at in read if len(read) == 1 else ():
            parts.append(f"{element(name, region.index_of(at))}, which is {shown(region.memory.cells[at])}")
    if not parts:
        return finding
    given = [
        f"; {trace.names[name]} is {shown(value)}"
        for name, value in launch.arguments.items()
        if not isinstance(value, View)
    ]
    cause = f" Its thread reads {joined(parts)}{''.join(given)}."
    return replace(finding, message=finding.message + cause)


def _with_unread(finding: Finding, launch: Launch, trace: Trace, *, once: bool) -> Finding:
    """Add to a wrong result that an element of an input is read by several threads, and another by none.

    It is no cause where elements have several readers by right, unless these are the threads at one place of
    each block: they took that for their place in the grid.
    """
    per_block = trace.geometry.threads_per_block
    for name in (each for each in launch.views if each not in launch.expected):
        readers = _readers(name, launch, trace)
        counts = [*map(len, readers.values())]
        read = [threads for threads in readers.values() if threads]
        by_place = len(read) <= per_block and all(len({i % per_block for i in each}) == 1 for each in read)
        if (once or by_place) and max(counts, default=0) > 1 and 0 in counts:
            most, none = (_element_at(counts.index(n), name, launch, trace) for n in (max(counts), 0))
            cause = f" {most} is read by {max(counts)} threads, and {none} by none."
            return replace(finding, kind="unread", message=finding.message + cause)
    return finding


def _with_absent_lanes(finding: Finding, launch: Launch, trace: Trace) -> Finding:
    """Add to a wrong result that lanes were asked which are not there: they give NaN, or any integer."""
    values = [launch.views[name].values() for name, called in trace.names.items() if called == finding.array]
    useless = any(not isinstance(value, float) or math.isnan(value) for value in values[0])
    said, lines = trace.machine.absent, trace.machine.absent_lines
    if not said or not useless:
        return finding
    return replace(
        finding, kind="missing_lane", message=f"{finding.message} {said}", line=lines[0], lines=lines
    )


def _changed_inputs(launch: Launch, before: Mapping[str, list[Any]], trace: Trace) -> Iterator[Finding]:
    """Yield the first changed element of each input."""
    for name, view in launch.views.items():
        # Most inputs hold the very numbers that they held before.
        if name not in launch.expected and not all(map(operator.is_, before[name], view.memory.cells)):
            old = [before[name][cell] for cell in view.cells()]
            finding = first_changed(trace.names[name], view.shape, old, view.values())
            if finding is not None:
                yield finding


def _written(trace: Trace, array: str, cell: int) -> bool:
    return any(
        region is not None and region.name == array and at == cell and kind != READ
        for region, at, kind, *_ in trace.machine.log
    )


def with_writers(finding: Finding, trace: Trace) -> Finding:
    """Add to a finding without a line those that stored into its element in this launch, if any did."""
    if finding.line is not None or not finding.index:
        return finding
    lines = {
        trace.machine.sites.line(site)
        for region, at, kind, site, *_ in trace.machine.log
        if region is not None and region.name == finding.array and kind != READ
        if region.index_of(at) == finding.index
    }
    return replace(finding, line=min(lines), lines=tuple(sorted(lines))) if lines else finding


def never_written(trace: Trace, finding: Finding) -> bool:
    """Say whether nothing ever came to the element of a finding."""
    for region in trace.regions:
        if region.name == finding.array and finding.index:
            cells = {index: cell for cell, index in region.elements.items()}
            cell = cells.get(finding.index)
            return cell is not None and not _written(trace, region.name, cell)
    return False


def too_narrow(trace: Trace, finding: Finding) -> bool:
    """Say whether the kernel made an array whose type does not hold the numbers of the one with a finding."""
    results = [region.dtype for region in trace.regions if region.name == finding.array]
    given = {region.dtype for region in trace.regions if region.space == "global"} - {*results}
    made = {region.dtype for region in trace.regions if region.space in ("shared", "local")} - given
    return any(kind.kind is not bool and not _holds(kind, result) for result in results for kind in made)


def _holds(kind: NumberType, result: NumberType) -> bool:
    """Say whether a type holds the numbers of another one; signs apart, as bits serve as either."""
    if issubclass(result.kind, float):
        return issubclass(kind.kind, float) and kind.itemsize >= result.itemsize
    if issubclass(kind.kind, float):
        return kind.itemsize > result.itemsize
    return kind.itemsize >= result.itemsize


# --- Limits ---------------------------------------------------------------------------------------------


def _over_limits(kernel: Kernel, limits: Limits, launch: Launch, trace: Trace) -> Iterator[Finding]:
    """Yield where a launch with right results exceeds the limits of the exercise.

    Coalescing is judged only if the arrays are contiguous; how many threads work, and whether they diverge,
    only if there are as many elements as threads, and more than one warp.
    """
    figures = trace.figures
    if limits.sectors_per_request is not None and all(map(_is_contiguous, launch.views.values())):
        yield from uncoalesced(trace, limits.sectors_per_request)
    if limits.bank_conflicts is not None:
        yield from bank_conflicts(trace, limits.bank_conflicts)
    yield from _repeated(limits, trace, {trace.names[name] for name in launch.expected})
    yield from _atomics(limits, figures, trace)
    if limits.loop_turns is not None and figures.loop_turns > limits.loop_turns:
        turns = count(figures.loop_turns, "turn")
        again = "; a compare-and-swap that is tried again takes turns, too" if trace.machine.swaps else ""
        message = (
            f"A thread makes {turns} of loops, where {_allowed(limits.loop_turns)}: share the work, or save "
            f"some of it{again}."
        )
        yield Finding("limit", message, line=trace.machine.loop_beyond(limits.loop_turns))
    for line, kinds in sorted(trace.machine.doubles.items())[:1]:
        names = [*map(str, kinds)]
        why = "" if {*names} == {"float64"} else f": {' with '.join(names)} makes float64 in Numba"
        start = kernel.starts_as(line, kinds)
        if "float" not in "".join(names) and len({name[0] for name in names}) == 1:
            # Signed or unsigned alike, whole numbers make one only where they are divided.
            why, start = f": {' / '.join(names)} makes float64 in Numba, and // a whole number", None
        begins = f"; {start[0]} in line {start[1]}" if start else ""
        message = f"Line {line} computes in double precision, where none is needed{why}{begins}."
        lines = tuple(sorted({line, start[1] if start else line}))
        yield Finding("float64", message, line=lines[0], lines=lines)
    sizes = {math.prod(view.shape) for view in launch.views.values()}
    if figures.threads > _WARP and figures.threads in sizes:
        yield from _threads(limits, figures)


def _is_contiguous(view: View) -> bool:
    if 0 in view.shape:
        return True
    axes = zip(view.shape, view.steps, c_steps(view.shape), strict=True)
    return all(extent == 1 or step == expected for extent, step, expected in axes)


def uncoalesced(trace: Trace, limit: float) -> Iterator[Finding]:
    """Yield the line whose loads or stores take the most sectors per request."""
    worst = _worst(trace.figures.plain, limit, lambda each: each.mean)
    if worst is not None:
        example = worst.dearest
        doing = "reads" if worst.kind == READ else "writes"
        n_bytes = len({event[1] for event in example}) * worst.region.dtype.itemsize
        least = -(-n_bytes // SECTOR_BYTES)
        message = (
            f"In line {worst.line} a warp {doing} {worst.region.name} in {max(worst.costs)} sectors of "
            f"{SECTOR_BYTES} bytes per request, where {least} could hold all that it asks for"
            f"{_apart(example, trace)}."
        )
        yield _of_example("uncoalesced", message, worst, trace)


def bank_conflicts(trace: Trace, limit: int = 1) -> Iterator[Finding]:
    """Yield the line whose accesses to shared memory take the most passes."""
    worst = _worst(trace.figures.in_shared, limit, lambda each: float(max(each.costs)))
    if worst is not None:
        passes = max(worst.costs)
        message = (
            f"In line {worst.line} up to {passes} threads of a warp want different words of "
            f"{worst.region.name} from one bank of shared memory, so the request takes {passes} passes "
            f"instead of 1{_apart(worst.dearest, trace)}."
        )
        yield _of_example("bank_conflict", message, worst, trace)


def _worst(
    instructions: Iterable[Instruction], limit: float, cost: Callable[[Instruction], float]
) -> Instruction | None:
    """Return the most expensive instruction above a limit; if several are, that of the lowest line."""
    above = [each for each in instructions if cost(each) > limit]
    return max(above, key=lambda each: (cost(each), -each.line, -each.region.number), default=None)


def _apart(example: list[Event], trace: Trace) -> str:
    """Say how far apart the elements of neighbouring threads lie, if that is always the same."""
    cells = [event[1] for event in example]
    lanes = [trace.geometry.lane_of(event[5].thread) for event in example]
    steps = {b - a for a, b in pairwise(cells)}
    neighbours = all(b - a == 1 for a, b in pairwise(lanes))
    if len(steps) != 1 or not neighbours or abs(step := steps.pop()) < 2:
        return ""
    return f": neighbouring threads take elements that lie {abs(step)} apart"


def _of_example(kind: str, message: str, instruction: Instruction, trace: Trace) -> Finding:
    example, region = instruction.dearest, instruction.region
    return Finding(
        kind,
        message,
        instruction.line,
        array=region.name,
        index=region.index_of(example[0][1]),
        threads=tuple(trace.geometry.thread_id(event[5].thread) for event in example[:2]),
    )


def _repeated(limits: Limits, trace: Trace, results: Collection[str]) -> Iterator[Finding]:
    """Yield arrays of global memory whose elements are read or written too often.

    What a kernel itself has written it may read again: the statements limit the reads of its inputs.
    """
    figures = trace.figures
    for verb, who, most, kind in (
        ("read", "", limits.reads_per_element, READ),
        ("written", "", limits.writes_per_element, WRITE),
        ("read", " by one block", limits.reads_per_block, READ),
    ):
        if most is None:
            continue
        for array, touches in figures.times_touched(kind, by_block=bool(who)).items():
            if verb == "read" and array.name in results:
                continue
            if len(touches) > most:
                lines = tuple(sorted({figures.line_of(event) for event in touches}))
                message = (
                    f"An element of {array.name} is {verb} {_times(len(touches))}{who}, where {_times(most)} "
                    f"{'is' if most == 1 else 'are'} allowed."
                )
                message += _again_by_one(touches, most, trace) if verb == "read" else ""
                index = array.index_of(touches[0][1])
                yield Finding("limit", message, lines[0], lines, array=array.name, index=index)


def _again_by_one(touches: list[Event], allowed: int, trace: Trace) -> str:
    """Say that a thread reads an element again, where there would be few enough reads without those."""
    threads = [event[5].thread for event in touches]
    if len({*threads}) > allowed:
        return ""
    thread = max(threads, key=threads.count)
    lines = sorted({trace.figures.line_of(event) for event in touches if event[5].thread == thread})
    array = touches[0][0]
    assert array is not None
    return (
        f" {with_capital(str(trace.geometry.thread_id(thread)))} alone reads "
        f"{element(array.name, array.index_of(touches[0][1]))} {_times(threads.count(thread))}, in "
        f"{'line' if len(lines) == 1 else 'lines'} {joined([*map(str, lines)])}: each {array.name}[...] "
        "counts as often as a thread comes to it. Keep the element in a variable."
    )


def _atomics(limits: Limits, figures: Figures, trace: Trace) -> Iterator[Finding]:
    """Yield too long a queue of atomic operations on global memory: of a launch, a block, or a warp."""
    geometry = trace.geometry
    for who, most, unit in (
        ("The launch", limits.atomics, lambda thread: 0),
        ("A block", limits.atomics_per_block, geometry.block_of),
        ("A warp", limits.atomics_per_warp, geometry.warp_of),
    ):
        if most is not None:
            queues: dict[int, list[int]] = {}
            for event in figures.atomic_events:
                queues.setdefault(unit(event[5].thread), []).append(figures.line_of(event))
            longest = max(queues.values(), key=len, default=[])
            if len(longest) > most:
                done = count(len(longest), "atomic operation")
                message = f"{who} makes {done} on global memory, where {_allowed(most)}."
                yield Finding("limit", message, line=max(set(longest), key=longest.count))


def _threads(limits: Limits, figures: Figures) -> Iterator[Finding]:
    """Yield too many idle threads, and too many branches at which the threads of a warp diverge."""
    least = limits.active_threads
    # Where all is right and nobody touched anything, there was nothing to do.
    if least is not None and 0 < figures.working < least * figures.threads:
        yield Finding(
            "limit",
            f"Only {count(figures.working, 'thread')} of {figures.threads} touched the arrays, although "
            "there is an element for each.",
        )
    most = limits.divergent_branches
    if most is not None and figures.divergent_branches > most:
        yield Finding(
            "limit",
            f"The threads of a warp diverge at {figures.divergent_branches:.0%} of the branches that they "
            f"meet; at most {most:.0%} are allowed.",
            line=figures.most_divergent_line,
        )


def _allowed(most: int) -> str:
    return {0: "none is needed", 1: "1 is allowed"}.get(most, f"{most} are allowed")


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")
