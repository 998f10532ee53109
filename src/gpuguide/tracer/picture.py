"""What a drawing of a finding shows, as data: threads above, elements below, and what joins them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gpuguide.tracer.counts import BANK_BYTES, BANKS, SECTOR_BYTES, Request
from gpuguide.tracer.findings import Finding, count, element, in_lines, numbers
from gpuguide.tracer.memory import ATOMIC, GUESS, READ, WRITE, Access, Array, Remark
from gpuguide.tracer.run import Grid, Run, Standstill

__all__ = ["GAP", "NEVER_WRITTEN", "Link", "Picture", "picture"]

#: Stands for what is left out.
GAP = "…"
#: Said of an element that is wrong because no thread came to it, so that no link can be marked.
NEVER_WRITTEN = "never written"
_LETTERS = {READ: "r", GUESS: "r", WRITE: "w", ATOMIC: "a"}
#: Elements on either side of the one concerned.
_AROUND = 4
_BARRIERS = ("divergent_barrier", "missed_barrier", "missing_lane")


class Link(NamedTuple):
    """What one thread does with one element: the letters of reads, writes and atomic changes, or ``"x"``."""

    top: int
    bottom: int
    doing: str
    marked: bool = False


class Picture(NamedTuple):
    """A drawing as data; text and SVG are made of it.

    `top` says what the labels `above` number, `mark` what marked links mean; the rest goes by position.
    """

    heading: str
    top: str
    above: tuple[str, ...]
    below: tuple[str, ...]
    links: tuple[Link, ...]
    notes: Mapping[int, str]
    mark: str = ""


def picture(run: Run, finding: Finding, worst: Request | None, most: int) -> Picture | None:
    """Make the picture of a finding, with at most so many threads and elements; None if there is none.

    `worst` is the request of a finding about sectors or banks.
    """
    kind = finding.kind
    if kind in _BARRIERS:
        found = [each for each in run.standstills if run.thread(each.first) == finding.threads[0]]
        return _of_barrier(run.grid, found[0], most) if found else None
    if kind in ("uncoalesced", "bank_conflict"):
        return _of_request(run, finding, worst, most) if worst is not None else None
    array = _array(run, finding)
    if array is None or not finding.element or kind == "limit":
        return None
    if kind in ("out_of_range", "negative_index"):
        return _of_indices(run, finding, array, most)
    drawn = _of_accesses(run, finding, array, most)
    return drawn if drawn.above else None  # no thread came near the element


# --- Composing ------------------------------------------------------------------------------------------


class _Touched(NamedTuple):
    """That a thread touched a row, both by number."""

    thread: int
    row: int
    doing: str
    marked: bool = False


class _Axis(NamedTuple):
    """What stands above, or below: all numbers in order, their labels, and which ones are to be shown."""

    all: Sequence[int]
    label: Callable[[int], str]
    centre: Sequence[int]

    def nearest(self, items: set[int], most: int) -> list[int]:
        """Choose at most so many of some numbers: those of the centre, then the nearest to it."""
        known = sorted(items | set(self.centre))
        wanted = self.centre or known[:1]
        distance = {item: min(abs(item - each) for each in wanted) for item in known}
        return sorted(sorted(known, key=lambda item: (distance[item], item))[:most])

    def with_gaps(self, chosen: Sequence[int]) -> tuple[tuple[str, ...], dict[int, int]]:
        """Return labels with gaps between, and where each number stands among them."""
        labels: list[str] = []
        positions: dict[int, int] = {}
        last = -1
        for number in chosen:
            place = _place(self.all, number)
            if place > last + 1:
                labels.append(GAP)
            positions[number] = len(labels)
            labels.append(self.label(number))
            last = place
        if self.all and (not chosen or chosen[-1] != self.all[-1]):
            labels.append(GAP)
        return tuple(labels), positions


def _place(numbers: Sequence[int], number: int) -> int:
    """Return how many come before one. A range may be longer than a browser's Python can count."""
    return number - numbers.start if isinstance(numbers, range) else bisect_left(numbers, number)


def _composed(
    heading: str,
    top: str,
    touched: Sequence[_Touched],
    threads: _Axis,
    rows: _Axis,
    *,
    most: int,
    notes: Mapping[int, str] | None = None,
    mark: str = "",
) -> Picture:
    """Compose a picture of at most so many threads and rows."""
    above, tops = threads.with_gaps(threads.nearest({each.thread for each in touched}, most))
    seen = [each for each in touched if each.thread in tops]
    below, bottoms = rows.with_gaps(rows.nearest({each.row for each in seen}, most))
    joins: dict[tuple[int, int], list[_Touched]] = defaultdict(list)
    for each in seen:
        if each.row in bottoms:
            joins[tops[each.thread], bottoms[each.row]].append(each)
    links = tuple(
        Link(*ends, _letters(each.doing for each in group), any(each.marked for each in group))
        for ends, group in sorted(joins.items())
    )
    texts = {bottoms[row]: note for row, note in (notes or {}).items() if row in bottoms}
    return Picture(heading, top, above, below, links, texts, mark if any(x.marked for x in links) else "")


def _letters(doings: Iterable[str]) -> str:
    """Return the letters of what is done, each once, in their order."""
    done = set(doings)
    return "".join(letter for letter in "rwa" if letter in done) or "x"


def _thread_axis(grid: Grid, threads: Collection[int], centre: Sequence[int]) -> tuple[str, _Axis]:
    """Return what the labels of threads number, and their axis: with the block if there are several."""
    everyone = sorted({*threads, *centre})
    blocks = {number // grid.per_block for number in everyone}

    def label(number: int) -> str:
        thread = grid.thread(number)
        own = _bare(thread.thread)
        return own if len(blocks) < 2 else f"{_bare(thread.block)}:{own}"

    one = f"thread of block {numbers(grid.thread(everyone[0]).block)}" if everyone else ""
    return one if len(blocks) < 2 else "block:thread", _Axis(everyone, label, centre)


def _bare(index: tuple[int, ...]) -> str:
    return ",".join(map(str, index))


# --- Accesses to memory ---------------------------------------------------------------------------------


def _array(run: Run, finding: Finding) -> Array | None:
    """Return the array of a finding: an argument, or one that its block, or its thread alone, made."""
    for array in run.arrays.values():
        if array.name == finding.array:
            return array
    own = None
    for access in run.accesses:
        if access.array.name == finding.array:
            own = access.array
            who = run.thread(access.thread)
            if own.memory.space == "local":
                if who in finding.threads:
                    break
            elif not finding.threads or who.block == finding.block:
                break
    return own


def _of_accesses(run: Run, finding: Finding, array: Array, most: int) -> Picture:
    """Show who touches the elements around the one of a finding."""
    here = array.place(finding.element)
    low, high = max(0, here - _AROUND), min(array.size - 1, here + _AROUND)
    rows = {array.cell(array.index(row)): row for row in range(low, high + 1)}
    accesses = [access for access in run.accesses if access.array.memory is array.memory]
    notes: dict[int, str] = {}
    doing, lines = "touch", finding.lines
    if finding.kind == "race":
        accesses, marked = _racing(run, finding, accesses)
        mark = "one of these writes, and nothing makes it wait for the other"
    elif finding.kind == "uninitialised":
        accesses = [access for access in accesses if run.program.line(access.site) in lines]
        early = {(remark.thread, remark.element) for remark in run.remarks if remark.kind == "uninitialised"}
        marked = {each for each in accesses if (each.thread, array.index_of(each.cell)) in early}
        mark = "reads before anything was written"
    else:
        doing, lines = "write", ()
        accesses = [access for access in accesses if access.kind in (WRITE, ATOMIC)]
        marked = {access for access in accesses if rows.get(access.cell) == here}
        mark = "changes an input" if finding.kind == "input_changed" else "writes the wrong value"
        note = "changed" if finding.kind == "input_changed" else "wrong"
        notes[here] = note if marked else NEVER_WRITTEN
    touched = [
        _Touched(access.thread, rows[access.cell], _LETTERS[access.kind], access in marked)
        for access in accesses
        if access.cell in rows
    ]
    centre = [run.grid.number(thread) for thread in finding.threads]
    top, threads = _thread_axis(run.grid, {each.thread for each in touched}, centre)
    return _composed(
        f"Which threads {doing} {array.name}{f' {in_lines(lines)}' if lines else ''}",
        top,
        touched,
        threads,
        _Axis(range(array.size), lambda row: element(array.name, array.index(row)), range(low, high + 1)),
        most=most,
        notes=notes,
        mark=mark,
    )


def _racing(run: Run, finding: Finding, accesses: list[Access]) -> tuple[list[Access], set[Access]]:
    """Return the accesses of a race's lines, between two barriers if of one block, and which race."""
    per_block = run.grid.per_block
    first, second = (run.grid.number(thread) for thread in finding.threads[:2])
    accesses = [access for access in accesses if run.program.line(access.site) in finding.lines]
    in_block = first // per_block == second // per_block
    if in_block:
        accesses = [access for access in accesses if access.thread // per_block == first // per_block]
        for epoch in sorted({access.epoch for access in accesses}):
            between = [access for access in accesses if access.epoch == epoch]
            marked = _contested(between, 1)
            if any(access.array.index_of(access.cell) == finding.element for access in marked):
                return between, marked
    return accesses, _contested(accesses, per_block)


def _contested(accesses: list[Access], threads_per_unit: int) -> set[Access]:
    """Return the accesses to cells that two threads, or blocks, touch and one changes."""
    units: dict[int, set[int]] = defaultdict(set)
    kinds: dict[int, set[str]] = defaultdict(set)
    for access in accesses:
        units[access.cell].add(access.thread // threads_per_unit)
        kinds[access.cell].add(access.kind)
    cells = {cell for cell in units if WRITE in kinds[cell] or {READ, ATOMIC} <= kinds[cell]}
    return {access for access in accesses if access.cell in cells and len(units[access.cell]) > 1}


# --- Requests of a warp ---------------------------------------------------------------------------------


def _of_request(run: Run, finding: Finding, worst: Request, most: int) -> Picture:
    """Show which sectors, or which banks of shared memory, the threads of a warp touch at once."""
    size = worst.accesses[0].array.itemsize
    width = SECTOR_BYTES if finding.kind == "uncoalesced" else max(size, BANK_BYTES)
    rows = [access.cell * size // width for access in worst.accesses]
    what, marked, mark = "sector", set[int](), ""
    if finding.kind == "bank_conflict":
        what, mark = "bank", "different words of one bank, which come one after the other"
        words = Counter(word % (BANKS * BANK_BYTES // width) for word in set(rows))
        marked = {bank for bank, n in words.items() if n > 1}
        rows = [word % (BANKS * BANK_BYTES // width) for word in rows]
    does = "touches" if what == "sector" else "wants words of"
    of = f"{count(len(set(rows)), what)}{f' of {SECTOR_BYTES} bytes' if what == 'sector' else ''}"
    heading = f"One warp {does} {of} of {finding.array} at once in line {finding.line}"
    if what == "bank":
        heading = f"One warp wants words of {finding.array} from {of} at once in line {finding.line}"
    touched = [
        _Touched(access.thread, row, _LETTERS[access.kind], row in marked)
        for access, row in zip(worst.accesses, rows, strict=True)
    ]
    centre = min(marked, default=min(rows))
    seen = [each.thread for each in touched if each.row == centre]
    top, threads = _thread_axis(run.grid, {each.thread for each in touched}, seen)
    axis = _Axis(sorted(set(rows)), lambda row: f"{what} {row}", [centre])
    return _composed(heading, top, touched, threads, axis, most=most, mark=mark)


# --- Threads at barriers, and indices outside an array --------------------------------------------------


def _of_barrier(grid: Grid, standstill: Standstill, most: int) -> Picture:
    """Show where the threads of a block stand; neighbours that stand together count as one."""
    runs: list[tuple[int, int, int]] = []
    for thread, state in standstill.states.items():
        if runs and runs[-1][2] == state:
            runs[-1] = (runs[-1][0], thread, state)
        else:
            runs.append((thread, thread, state))
    states = sorted(set(standstill.states.values()), key=lambda state: (state <= 0, abs(state)))
    touched = [_Touched(first, states.index(state), "x", state != states[0]) for first, _, state in runs]
    ends = {first: last for first, last, _ in runs}
    concerned = (standstill.first, standstill.other)
    centre = [first for first, last, _ in runs if any(first <= each <= last for each in concerned)]
    top, axis = _thread_axis(grid, list(ends), centre)

    def label(first: int) -> str:
        own = axis.label(first)
        return own if ends[first] == first else f"{own}-{axis.label(ends[first])}"

    return _composed(
        "Where the threads of one block stand",
        top,
        touched,
        _Axis(list(ends), label, centre),
        _Axis(range(len(states)), lambda row: _standing(states[row]), range(len(states))),
        most=most,
        mark="not where the others stand",
    )


def _standing(state: int) -> str:
    if state > 0:
        return f"line {state}"
    return f"has returned in line {-state}" if state else "has come to its end"


def _of_indices(run: Run, finding: Finding, array: Array, most: int) -> Picture:
    """Show which threads ask for elements that an array does not have, or has at its other end."""
    remarks = [
        remark
        for remark in run.remarks
        if remark.kind == finding.kind
        and remark.array == array.name
        and run.program.line(remark.site) == finding.line
    ]
    first = min(remarks, key=lambda remark: remark.thread)
    notes: dict[int, str] = {}
    if array.ndim == 1:
        touched, rows, notes = _by_number(run, finding, array, remarks)
    else:
        asked = sorted({remark.element for remark in remarks})
        touched = [
            _Touched(each.thread, asked.index(each.element), _LETTERS[each.doing], True) for each in remarks
        ]
        centre = [asked.index(first.element)]
        rows = _Axis(range(len(asked)), lambda row: element(array.name, asked[row]), centre)
    top, threads = _thread_axis(run.grid, {each.thread for each in touched}, [first.thread])
    mark = "no such element" if finding.kind == "out_of_range" else "counted from the end"
    heading = f"Which threads ask for which elements of {array.name} in line {finding.line}"
    return _composed(heading, top, touched, threads, rows, most=most, notes=notes, mark=mark)


def _by_number(
    run: Run, finding: Finding, array: Array, remarks: list[Remark]
) -> tuple[list[_Touched], _Axis, dict[int, str]]:
    """Let the rows of a vector go on before its first and behind its last element."""
    extent, asked = array.shape[0], [remark.element[0] for remark in remarks]
    touched = [_Touched(each.thread, each.element[0], _LETTERS[each.doing], True) for each in remarks]
    notes = {}
    if extent and max(asked) >= extent:
        notes[extent - 1] = "the last element"
    if extent and min(asked) < 0:
        notes[0] = "the first element"
        notes |= {at: f"in Numba {element(array.name, [at + extent])}" for at in asked if -extent <= at < 0}
    ends, wrong = [end for end in notes if end >= 0], {remark.thread for remark in remarks}
    for access in run.accesses:
        if (
            access.array is array
            and access.thread not in wrong
            and run.program.line(access.site) == finding.line
        ):
            row = (access.cell - array.start) // (array.steps[0] or 1)
            if any(abs(row - end) < 3 for end in ends):
                touched.append(_Touched(access.thread, row, _LETTERS[access.kind]))
    span = range(min(0, *asked), max(extent - 1, *asked) + 1)
    return touched, _Axis(span, lambda row: element(array.name, [row]), sorted({*ends, asked[0]})), notes
