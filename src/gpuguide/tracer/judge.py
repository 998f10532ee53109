"""From what a launch did to what is wrong with it: findings, with their words."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuguide.tracer.counts import SECTOR_BYTES, Counts, Request
from gpuguide.tracer.findings import (
    SPECIAL_QUESTIONS,
    Finding,
    count,
    element,
    in_lines,
    more,
    numbers,
    with_capital,
)
from gpuguide.tracer.memory import ATOMIC, GUESS, READ, WRITE, Access, Array, Remark
from gpuguide.tracer.races import Race, races
from gpuguide.tracer.run import Run, Standstill

__all__ = ["Limits", "findings_of", "over_limits"]

_OF_BARRIERS = ("divergent_barrier", "missed_barrier", "missing_lane")
#: After these, other findings may only follow from them.
_ENDS = ("compile", "unsupported", "endless", "exception", "memory", "out_of_range", *_OF_BARRIERS)


@dataclass(frozen=True)
class Limits:
    """What a launch must keep to besides right results; None where there is no limit."""

    sectors_per_request: float | None = None
    bank_conflicts: int | None = None
    reads_per_element: int | None = None
    writes_per_element: int | None = None
    reads_per_block: int | None = None
    atomics: int | None = None
    atomics_per_block: int | None = None
    atomics_per_warp: int | None = None
    loop_turns: int | None = None
    active_threads: float | None = None
    divergent_branches: float | None = None
    float64: bool = True


def findings_of(
    run: Run, before: Mapping[str, list[Any]], expected: Mapping[str, Sequence[Any]], tolerance: float
) -> list[Finding]:
    """Return what is wrong with a launch besides limits, the most important first.

    `before` is what the memory of the inputs held, `expected` what arrays must hold, by name.
    """
    found = [*_of_remarks(run), *_of_barriers(run)]
    if run.endless is not None:
        line, thread = run.endless
        text = (
            f"{with_capital(run.thread(thread))} goes round the loop at line {line} again and again: it was "
            "given up."
        )
        found.append(Finding("endless", text, line, threads=(run.thread(thread),)))
    kinds = {finding.kind for finding in found}
    if kinds & {"out_of_range", "exception", "unsupported"}:
        # A thread that was stopped there writes nothing for others to read.
        found = [finding for finding in found if finding.kind != "uninitialised"]
    if not kinds & {"exception", "endless", "unsupported", *_OF_BARRIERS}:
        found += [
            _of_race(race, run)
            for race in races(run.accesses, run.grid, run.program.line, between_blocks=not run.fences)
        ]
        found += _of_inputs(run, before)
    if not kinds & set(_ENDS):
        wrong = [*_of_results(run, expected, tolerance)]
        found += [*_of_absent_lane(run), *wrong] if wrong else []
    return sorted(found, key=lambda finding: finding.order)


# --- What single threads do ------------------------------------------------------------------------------

_DOING = {READ: "reads", GUESS: "reads", WRITE: "writes", ATOMIC: "atomically changes"}


def _of_remarks(run: Run) -> Iterator[Finding]:
    """Yield one finding for each kind, line and array: that of the first thread."""
    groups: dict[tuple[str, int, str], list[Remark]] = defaultdict(list)
    for remark in run.remarks:
        if remark.kind == "negative_index" and run.program.is_written_out(remark.site):
            continue  # x[-1] is what it says
        line = run.program.line(remark.site) if remark.site else run.kernel.line
        groups[remark.kind, line, remark.array].append(remark)
    made = {array.name: array for array in run.own_arrays}
    made |= {array.name: array for array in run.arrays.values()}
    for (kind, line, array), remarks in groups.items():
        first = min(remarks, key=lambda remark: remark.thread)
        who = run.thread(first.thread)
        n = len({remark.thread for remark in remarks})
        asked = made.get(array)
        text = _sentence(first, with_capital(who), line, asked) + more(n - 1, "thread")
        if kind == "uninitialised" and asked is not None and asked.memory.space == "local":
            text += f" {array} is a local array: each thread has one of its own."
        question = _question_of_index(run, asked, remarks) if kind == "out_of_range" else ""
        yield Finding(
            kind, text, line, array=array, element=first.element, threads=(who,), times=n, question=question
        )


def _question_of_index(run: Run, array: Array | None, remarks: list[Remark]) -> str:
    """Return the question for an index that an array lacks: the same finding has several causes."""
    if array is None:
        return ""
    if not array.size:
        return SPECIAL_QUESTIONS["no_elements"]
    if array.memory.space != "global":
        return SPECIAL_QUESTIONS["too_short"]
    if array.ndim > 1:
        return SPECIAL_QUESTIONS["matrix"]
    own = all(remark.element[0] in _places(run, remark.thread) for remark in remarks)
    return "" if own else SPECIAL_QUESTIONS["beyond_the_end"]


def _places(run: Run, number: int) -> list[int]:
    """Return the thread's own place in the grid, along each axis."""
    thread = run.thread(number)
    return [t + b * n for t, b, n in zip(thread.thread, thread.block, run.grid.block, strict=False)]


def _sentence(remark: Remark, who: str, line: int, array: Array | None) -> str:
    item = element(remark.array, remark.element)
    does = f"{who} {remark.doing} {item} in line {line}"
    if remark.kind == "out_of_range":
        has = (
            f", but {remark.array} has {_size(array)}"
            if array is not None
            else ", and there is no such element"
        )
        return f"{does}{has}.{_swapped(remark.element, array)}"
    if remark.kind == "negative_index":
        index = "An index below zero" if len(remark.element) == 1 else "A number below zero"
        return f"{does}. {index} counts from the end."
    if remark.kind == "uninitialised":
        return f"{does}, where nothing was written before."
    if remark.kind in ("exception", "unsupported"):
        return f"{who} cannot go on in line {line}: {remark.text}."
    return f"{who} {remark.text}, in line {line}."


def _size(array: Array) -> str:
    if array.ndim == 1:
        return count(array.shape[0], "element")
    return f"the shape {array.shape}"


def _swapped(index: tuple[int, ...], array: Array | None) -> str:
    """Say that the numbers of an index fit if they are exchanged."""
    if array is None or len(index) != 2 or array.shape[0] == array.shape[1]:
        return ""
    fits = 0 <= index[1] < array.shape[0] and 0 <= index[0] < array.shape[1]
    return " With row and column exchanged it would exist: which of them counts rows?" if fits else ""


# --- Barriers --------------------------------------------------------------------------------------------


def _of_barriers(run: Run) -> Iterator[Finding]:
    if any(remark.kind in ("out_of_range", "exception", "unsupported", "memory") for remark in run.remarks):
        return  # a thread that failed reaches no barrier
    for standstill in run.standstills:
        yield _of_standstill(standstill, run)


def _of_standstill(standstill: Standstill, run: Run) -> Finding:
    first, other = (run.thread(each) for each in (standstill.first, standstill.other))
    states = standstill.states
    line, there = states[standstill.first], states.get(standstill.other, 0)
    rival = f"thread {numbers(other.thread)} of the same block"
    if standstill.kind == "missing_lane":
        text = (
            f"{with_capital(first)} waits in {standstill.operation} in line {line} for lanes of its warp "
            f"that never come to it: {_stands(rival, there)}."
        )
    elif there == line:
        text = f"{with_capital(first)} waits at the barrier in line {line}, which not all of its block reach."
    elif there > 0:
        text = (
            f"{with_capital(first)} waits at the barrier in line {line} while {_stands(rival, there)}. All "
            "threads of a block must meet at the same barrier."
        )
    else:
        cause = "" if there else ", because an if or a loop lets it miss the barrier"
        text = (
            f"{with_capital(first)} waits at the barrier in line {line}, but {_stands(rival, there)}{cause}. "
            "All threads of a block must reach a barrier."
        )
    lines = tuple(sorted({line, abs(there)} - {0}))
    return Finding(standstill.kind, text, line, lines, threads=(first, other))


def _stands(who: str, state: int) -> str:
    if state > 0:
        return f"{who} waits in line {state}"
    return f"{who} has returned in line {-state}" if state else f"{who} has come to its end"


def _of_absent_lane(run: Run) -> Iterator[Finding]:
    """Yield the shuffle that takes the value of a lane that is not there; only for wrong results."""
    if run.absent is not None:
        who, line = run.thread(run.absent.thread), run.absent.line
        text = (
            f"{with_capital(who)} asks {run.absent.operation} in line {line} for the value of lane "
            f"{run.absent.lane} of its warp, which does not come there: it has ended, or the block has none."
        )
        yield Finding("missing_lane", text, line, threads=(who,))


# --- Races -----------------------------------------------------------------------------------------------


def _of_race(race: Race, run: Run) -> Finding:
    """Put a race into words."""
    first, second, around = race.first, race.second, ""
    same_block = first.thread // run.grid.per_block == second.thread // run.grid.per_block
    begun = run.passed.get((first.thread // run.grid.per_block, first.epoch), 0) if same_block else 0
    if run.program.line(first.site) < begun <= run.program.line(second.site):
        # A barrier lies between the lines, but not from the second one round the loop to the first.
        first, second, around = second, first, ", in the next turn of the loop,"
    lines = [run.program.line(each.site) for each in (first, second)]
    what = _both(run, first, second) if lines[0] == lines[1] else ""
    text = what or _one_and_other(run, first, second, around)
    if same_block:
        text += " with no barrier between" + (" but that of one warp" if first.phase != second.phase else "")
    else:
        text += ", and blocks do not wait for each other"
        text += ": cuda.syncthreads() waits for the threads of one block only" if run.barriers else ""
    if "change" in what.split():
        text += ", so one of the changes can be lost."
    else:
        read = READ in (first.kind, second.kind)
        text += f", so {'the old value or the new one can be read' if read else 'either value can stay'}."
    text += more(race.n_cells - 1, "element")
    for line, call in run.program.uncalled[:1]:
        text += f" Line {line} names {call}, but does not call it: it lacks the parentheses."
    unique, index = tuple(sorted(set(lines))), first.array.index_of(first.cell)
    who = (run.thread(first.thread), run.thread(second.thread))
    return Finding("race", text, unique[0], unique, first.array.name, index, who, race.n_cells)


def _both(run: Run, first: Access, second: Access) -> str:
    """Say that two threads change, or write, an element in one line; empty if they do not do the same."""
    kinds, array = {first.kind, second.kind}, first.array
    changed = kinds in ({WRITE}, {READ, WRITE}) and _both_change(run, first, second)
    if not changed and (kinds != {WRITE} or second.array.name != array.name):
        return ""
    who = (run.thread(first.thread), run.thread(second.thread))
    both = f"{with_capital(who[0])} and {who[1]}"
    if who[0].block == who[1].block:
        own = " and ".join(numbers(each.thread) for each in who)
        both = f"Threads {own} of block {numbers(who[0].block)}"
    item = element(array.name, array.index_of(first.cell))
    return f"{both} both {'change' if changed else 'write'} {item} in line {run.program.line(first.site)}"


def _one_and_other(run: Run, first: Access, second: Access, around: str) -> str:
    """Say what the one thread does, and what the other."""
    who = (run.thread(first.thread), run.thread(second.thread))
    lines = [run.program.line(each.site) for each in (first, second)]
    rival = f"thread {numbers(who[1].thread)}" if who[0].block == who[1].block else str(who[1])
    where = "the same line" if lines[0] == lines[1] else f"line {lines[1]}"
    item = element(first.array.name, first.array.index_of(first.cell))
    same = "it" if second.array.name == first.array.name else _other_name(second)
    return (
        f"{with_capital(who[0])} {_DOING[first.kind]} {item} in line {lines[0]} and {rival} "
        f"{_DOING[second.kind]} {same} in {where}{around}"
    )


def _other_name(access: Access) -> str:
    return f"{element(access.array.name, access.array.index_of(access.cell))}, the same memory,"


def _both_change(run: Run, first: Access, second: Access) -> bool:
    """Say whether both threads read and write the cell in this line."""
    line = run.program.line(first.site)
    done: dict[int, set[str]] = {first.thread: set(), second.thread: set()}
    for access in run.accesses:
        here = access.cell == first.cell and access.array.memory is first.array.memory
        if here and access.thread in done and run.program.line(access.site) == line:
            done[access.thread].add(access.kind)
    return all({READ, WRITE} <= kinds for kinds in done.values())


# --- Results ---------------------------------------------------------------------------------------------


def _of_inputs(run: Run, before: Mapping[str, list[Any]]) -> Iterator[Finding]:
    for name, held in before.items():
        array = run.arrays[name]
        holds = array.memory.cells
        changed = [cell for cell in array.cells() if not _same(held[cell], holds[cell], 0)]
        if changed:
            index, writers = array.index_of(changed[0]), _writers(run, array, changed[0])
            text = f"{element(array.name, index)} is an input and was changed, from {held[changed[0]]} to "
            text += f"{holds[changed[0]]}{_by(run, writers)}.{more(len(changed) - 1, 'element')}"
            yield _at(run, "input_changed", text, array, index, writers, len(changed))


def _of_results(run: Run, expected: Mapping[str, Sequence[Any]], tolerance: float) -> Iterator[Finding]:
    """Yield the first wrong element of each array that has one."""
    for name, values in expected.items():
        array = run.arrays[name]
        memory, wrong = array.memory, []
        for cell, right in zip(array.cells(), values, strict=True):
            target = memory.dtype(right)
            unset = memory.written is not None and cell not in memory.written
            if unset or not _same(memory.cells[cell], right if tolerance else target, tolerance):
                wrong.append((cell, target, unset))
        if wrong:
            cell, target, unset = wrong[0]
            index, writers = array.index_of(cell), _writers(run, array, cell)
            item = element(array.name, index)
            if unset:
                text = f"{item} should be {target}, and no thread writes it"
            else:
                nobody = " and no thread writes it" if not writers else ""
                text = f"{item} should be {target} and is {memory.cells[cell]}{nobody}{_by(run, writers)}"
            isare = "is" if len(wrong) == 1 else "are"
            text += f"; {len(wrong):,} of {count(array.size, 'element')} {isare} wrong."
            yield _at(run, "wrong", text, array, index, writers, len(wrong))


def _at(
    run: Run, kind: str, text: str, array: Array, index: tuple[int, ...], writers: list[Access], n: int
) -> Finding:
    """Return a finding about an element, with the lines and threads that changed it."""
    nobody = kind == "wrong" and not writers
    question = SPECIAL_QUESTIONS["never_written"] if nobody else ""
    writers = writers or [
        access
        for access in run.accesses
        if access.array.memory is array.memory and access.kind in (WRITE, ATOMIC)
    ]
    lines = tuple(sorted({run.program.line(access.site) for access in writers}))
    who = tuple(dict.fromkeys(run.thread(access.thread) for access in writers[:2]))
    line = lines[0] if lines else run.kernel.line
    return Finding(kind, text, line, lines, array.name, index, who, n, question)


def _writers(run: Run, array: Array, cell: int) -> list[Access]:
    memory = array.memory
    return [
        access
        for access in run.accesses
        if access.cell == cell and access.array.memory is memory and access.kind not in (READ, GUESS)
    ]


def _by(run: Run, writers: list[Access]) -> str:
    """Say who changed an element, if that is one thread, or how many did."""
    threads = dict.fromkeys(access.thread for access in writers)
    if not threads:
        return ""
    lines = in_lines(sorted({run.program.line(access.site) for access in writers}))
    if len(threads) == 1:
        return f" (by {run.thread(writers[-1].thread)}, {lines})"
    return f" (by {len(threads)} threads, {lines})"


def _same(value: Any, right: Any, tolerance: float) -> bool:
    if isinstance(value, float) and isinstance(right, float) and math.isnan(value) and math.isnan(right):
        return True
    return bool(value == right or (tolerance and abs(float(value) - float(right)) <= tolerance))


# --- Limits ----------------------------------------------------------------------------------------------


def over_limits(run: Run, counts: Counts, results: Iterable[str], limits: Limits) -> list[Finding]:
    """Return which limits a launch whose results are right exceeds."""
    names = {run.arrays[name].name for name in results}
    found = [
        *_of_requests(run, counts, limits),
        *_repeated(run, names, limits),
        *_atomics(run, limits),
        *_of_threads(run, counts, limits),
    ]
    most = limits.loop_turns
    if most is not None and counts.loop_turns > most:
        line = max(run.ticks, key=lambda line: run.ticks[line])
        text = (
            f"A thread makes {count(counts.loop_turns, 'turn')} of loops, where {most:,} {_are(most)} enough."
        )
        found.append(Finding("limit", f"{text} Most are those of line {line}.", line))
    return sorted(found, key=lambda finding: finding.order[0])  # type: ignore[arg-type,return-value]


def doubles(run: Run, limits: Limits) -> Iterator[Finding]:
    """Yield the lines in which a float64 comes of a float32."""
    if limits.float64:
        return
    for line, (what, thread) in sorted(run.doubles.items()):
        who = run.thread(thread)
        text = f"{with_capital(who)} computes a float64 in line {line}: {what} gives float64."
        yield Finding("float64", text, line, threads=(who,))


def _of_requests(run: Run, counts: Counts, limits: Limits) -> Iterator[Finding]:
    worst = counts.global_request
    most = math.inf if limits.sectors_per_request is None else limits.sectors_per_request
    contiguous = all(array.contiguous for array in run.arrays.values())
    if worst is not None and contiguous and worst.mean > most:
        text = (
            f"In line {worst.line} a request touches {worst.mean:.3g} sectors of {SECTOR_BYTES} bytes "
            f"on average, where {most:.3g} are enough{_apart(worst)}."
        )
        yield _of_request(run, "uncoalesced", text, worst)
    worst = counts.shared_request
    if limits.bank_conflicts is not None and worst is not None and worst.cost > limits.bank_conflicts:
        text = (
            f"In line {worst.line} up to {worst.cost} threads of a warp want different words of "
            f"{worst.accesses[0].array.name} from one bank of shared memory, so the request takes "
            f"{worst.cost} passes instead of 1{_apart(worst)}."
        )
        yield _of_request(run, "bank_conflict", text, worst)


def _apart(worst: Request) -> str:
    far = worst.apart
    return f": neighbouring threads take elements that lie {far} apart" if far > 1 else ""


def _of_request(run: Run, kind: str, text: str, worst: Request) -> Finding:
    array = worst.accesses[0].array
    who = tuple(run.thread(access.thread) for access in worst.accesses[:2])
    index = array.index_of(worst.accesses[0].cell)
    return Finding(kind, text, worst.line, array=array.name, element=index, threads=who)


def _repeated(run: Run, results: set[str], limits: Limits) -> Iterator[Finding]:
    """Yield arrays of global memory whose elements are read or written too often."""
    changed = {access.array.name for access in run.accesses if access.kind == ATOMIC}
    plain = [
        access
        for access in _kept_in_registers(run)
        if access.array.memory.space == "global" and access.array.name not in changed
    ]
    reads = [access for access in plain if access.kind == READ and access.array.name not in results]
    writes = [access for access in plain if access.kind == WRITE]
    for accesses, verb, who, most in (
        (reads, "read", "", limits.reads_per_element),
        (writes, "written", "", limits.writes_per_element),
        (reads, "read", " by one block", limits.reads_per_block),
    ):
        touches: dict[tuple[str, int, int], list[Access]] = defaultdict(list)
        for access in accesses if most is not None else ():
            block = access.thread // run.grid.per_block if who else 0
            touches[access.array.name, access.cell, block].append(access)
        worst = max(touches.values(), key=len, default=[])
        if most is not None and len(worst) > most:
            array = worst[0].array
            index = array.index_of(worst[0].cell)
            lines = tuple(sorted({run.program.line(access.site) for access in worst}))
            text = (
                f"{element(array.name, index)} is {verb} {_times(len(worst))}{who} ({in_lines(lines)}), "
                f"where {_times(most)} is enough."
            )
            thread = run.thread(worst[0].thread)
            yield Finding("limit", text, lines[0], lines, array.name, index, (thread,))


def _kept_in_registers(run: Run) -> Iterator[Access]:
    """Leave out what a thread reads again in the same turn, with no write between: the compiler keeps it."""
    known: dict[int, set[tuple[int, int, int]]] = defaultdict(set)
    for access in run.accesses:
        held = known[access.thread]
        if access.kind in (WRITE, ATOMIC):
            held.clear()
        elif (own := (id(access.array.memory), access.cell, access.path)) in held:
            continue
        else:
            held.add(own)
        yield access


def _atomics(run: Run, limits: Limits) -> Iterator[Finding]:
    per_block = run.grid.per_block
    for who, most, size in (
        ("The launch", limits.atomics, run.grid.n_threads),
        ("A block", limits.atomics_per_block, per_block),
        ("A warp", limits.atomics_per_warp, 0),
    ):
        if most is None:
            continue
        queues: dict[tuple[int, int], list[int]] = defaultdict(list)
        for access in run.accesses:
            if access.kind == ATOMIC and access.array.memory.space == "global":
                block = access.thread // (size or per_block)
                unit = (block, 0 if size else run.grid.warp(access.thread))
                queues[unit].append(run.program.line(access.site))
        longest = max(queues.values(), key=len, default=[])
        if len(longest) > most:
            done = count(len(longest), "atomic operation")
            allowed = "none is needed" if not most else f"{most:,} {_are(most)} enough"
            text = f"{who} makes {done} on global memory, where {allowed}."
            yield Finding("limit", text, max(set(longest), key=longest.count))


def _of_threads(run: Run, counts: Counts, limits: Limits) -> Iterator[Finding]:
    """Yield too many idle threads and divergent branches, where there is an element for each thread."""
    n = counts.threads
    if n <= 32 or all(array.size != n for array in run.arrays.values()):
        return
    least = limits.active_threads
    if least is not None:
        touches = [access for access in run.accesses if access.array.memory.space == "global"]
        working = {access.thread for access in touches}
        if 0 < len(working) < least * n:
            lines = tuple(sorted({run.program.line(access.site) for access in touches}))
            text = f"Only {count(len(working), 'thread')} of {n:,} touched the arrays, although there is an "
            yield Finding("limit", f"{text}element for each.", lines[0], lines)
    most = limits.divergent_branches
    if most is not None and counts.divergent_branches > most:
        share, line = f"{counts.divergent_branches:.0%}", counts.divergent_line
        text = f"The threads of a warp part at {share} of the branches that they meet, most in line {line}; "
        yield Finding("limit", f"{text}at most {most:.0%} are allowed.", line)


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")
