"""What a drawing of a finding shows, as data: threads above, elements below, and what joins them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gpuguide.exercises.simulator.findings import Finding, count, element, joined, numbers
from gpuguide.exercises.simulator.geometry import Geometry
from gpuguide.exercises.simulator.machine import ATOMIC, EXCHANGE, READ, WRITE, Event, Remark
from gpuguide.exercises.simulator.memory import Region
from gpuguide.exercises.simulator.races import contested, early_reads
from gpuguide.exercises.simulator.scheduler import FAILED, RETURNED
from gpuguide.exercises.simulator.trace import (
    SECTOR_BYTES,
    Access,
    Instruction,
    Trace,
    byte_of,
    word_and_bank,
)

#: Stands for what is left out.
GAP = "…"
#: Said of an element that is wrong because no thread came to it, so that no link can be marked.
NEVER_WRITTEN = "never written"
#: Threads, and elements, that a drawing shows at most.
MOST = 16
_LETTERS = "rwa"
_ASKS_FOR = {"reads": "r", "writes": "w", "changes": "a"}
_LETTER = {READ: "r", WRITE: "w", ATOMIC: "a", EXCHANGE: "a"}
#: Elements on either side of the one concerned.
_AROUND = 4
#: Elements at the end of a vector whose rightful users are shown, too.
_NEAR = 3


@dataclass(frozen=True)
class Link:
    """What one thread does with one element: the letters of reads, writes and atomic changes, or ``"x"``."""

    top: int
    bottom: int
    doing: str
    marked: bool = False


@dataclass(frozen=True)
class Picture:
    """A drawing as data; text and SVG are made of it.

    Attributes
    ----------
    heading : str
        What is shown.
    top : str
        What the labels above number.
    above, below : tuple of str
        Labels of threads and of elements, with `GAP` where some are left out.
    links : tuple of Link
        What joins them, by position.
    notes : mapping
        What is to be said of single elements, by position.
    mark : str
        What marked links mean; empty if none is.
    """

    heading: str
    top: str
    above: tuple[str, ...]
    below: tuple[str, ...]
    links: tuple[Link, ...]
    notes: Mapping[int, str]
    mark: str = ""


def picture(trace: Trace, finding: Finding, most: int = MOST) -> Picture | None:
    """Make the picture of a finding."""
    remarks = trace.remarks.get(finding, ())
    if remarks and remarks[0].states:
        return _of_a_barrier(trace.geometry, remarks[0], most)
    if remarks and finding.index:
        return _of_indices(trace, finding, remarks, most)
    scene = _scene(trace, finding)
    draw = _DRAWN.get(finding.kind)
    drawn = draw(scene, most) if scene is not None and draw is not None else None
    return drawn if drawn is not None and drawn.above else None  # no thread came near the element


def picture_of(trace: Trace, shown: Finding | str, most: int = MOST) -> Picture | None:
    """Make the picture of a finding, or of who writes an array."""
    return picture_of_result(trace, shown, most) if isinstance(shown, str) else picture(trace, shown, most)


def picture_of_result(trace: Trace, array: str, most: int = MOST) -> Picture | None:
    """Make the picture of who writes which elements of an array, around its middle."""
    region = next((each for each in trace.regions if each.name == array and each.elements), None)
    if region is None:
        return None
    labels = list(region.elements.values())
    scene = _Scene(trace, Finding("wrong", "", array=array, index=labels[len(labels) // 2]), region)
    drawn = scene.drawn(most, "write", scene.changes, lambda _: False, "")
    return drawn if drawn.links else None


# --- Composing ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Touched:
    """That a thread touched a row, both by number."""

    thread: int
    row: int
    doing: str
    marked: bool = False


@dataclass(frozen=True)
class _Axis:
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
            place = bisect_left(self.all, number)
            if place > last + 1:
                labels.append(GAP)
            positions[number] = len(labels)
            labels.append(self.label(number))
            last = place
        if last < len(self.all) - 1:
            labels.append(GAP)
        return tuple(labels), positions


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
    found: dict[tuple[int, int], list[_Touched]] = defaultdict(list)
    for each in seen:
        if each.row in bottoms:
            found[tops[each.thread], bottoms[each.row]].append(each)
    links = tuple(
        Link(*ends, _letters(each.doing for each in group), any(each.marked for each in group))
        for ends, group in sorted(found.items())
    )
    said = {bottoms[row]: note for row, note in (notes or {}).items() if row in bottoms}
    return Picture(heading, top, above, below, links, said, mark if any(x.marked for x in links) else "")


def _letters(doings: Iterable[str]) -> str:
    """Return the letters of what is done, each once, in their order."""
    done = set(doings)
    return "".join(letter for letter in _LETTERS if letter in done) or "x"


def _label_of_threads(geometry: Geometry, threads: Sequence[int]) -> Callable[[int], str]:
    """Return how threads are labelled: with their block in front if they are of several blocks."""
    one_block = len({geometry.block_of(number) for number in threads}) < 2

    def label(number: int) -> str:
        thread = geometry.thread_id(number)
        own = _bare(thread.thread)
        return own if one_block else f"{_bare(thread.block)}:{own}"

    return label


def _title_of_threads(geometry: Geometry, threads: Sequence[int]) -> str:
    """Return what the labels of threads number."""
    blocks = {geometry.thread_id(number).block for number in threads}
    return f"thread of block {numbers(blocks.pop())}" if len(blocks) == 1 else "block:thread"


def _bare(index: tuple[int, ...]) -> str:
    return ",".join(map(str, index))


# --- Accesses to memory ---------------------------------------------------------------------------------


class _Scene:
    """The surroundings of a finding about an element of an array."""

    def __init__(self, trace: Trace, finding: Finding, region: Region) -> None:
        self.trace, self.finding, self.region = trace, finding, region
        self.geometry = trace.geometry
        self.rows = {cell: row for row, cell in enumerate(region.elements)}
        self.labels = list(region.elements.values())
        self.row = self.labels.index(finding.index)

    @cached_property
    def accesses(self) -> list[Access]:
        """All accesses to the array's memory; in shared memory those of the finding's block."""
        memory = self.region.memory
        found = [access for access in self.trace.memory if access.region.memory is memory]
        if self.region.space == "shared" and self.finding.threads:
            found = [access for access in found if access.block == self.block]
        return found

    @property
    def block(self) -> int:
        """The block of the finding's first thread."""
        return self.geometry.block_of(self.geometry.number(self.finding.threads[0]))

    @property
    def changes(self) -> list[Access]:
        """The accesses that store."""
        return [access for access in self.accesses if access.kind != READ]

    def row_of(self, access: Access) -> int | None:
        """Return the number of the element that an access touches, in C order."""
        return self.rows.get(access.at)

    def drawn(
        self,
        most: int,
        doing: str,
        accesses: list[Access],
        marked: Callable[[Access], bool],
        mark: str,
        *,
        lines: tuple[int, ...] = (),
        note: str = "",
    ) -> Picture:
        """Show threads above and elements below."""
        near = [each for each in accesses if abs((self.row_of(each) or 0) - self.row) <= _AROUND]
        touched = [
            _Touched(each.thread, row, _LETTER[each.kind], marked(each))
            for each in near
            if (row := self.row_of(each)) is not None
        ]
        centre = [self.geometry.number(thread) for thread in self.finding.threads]
        threads = sorted({each.thread for each in touched} | set(centre))
        where = f" in line{'s' if len(lines) > 1 else ''} {joined([*map(str, lines)])}" if lines else ""
        low, high = max(0, self.row - _AROUND), min(len(self.labels) - 1, self.row + _AROUND)
        return _composed(
            f"Which threads {doing} {self.region.name}{where}",
            _title_of_threads(self.geometry, threads),
            touched,
            _Axis(threads, _label_of_threads(self.geometry, threads), centre),
            _Axis(range(len(self.labels)), self._label, range(low, high + 1)),
            most=most,
            notes={self.row: note} if note else None,
            mark=mark,
        )

    def _label(self, row: int) -> str:
        return element(self.region.name, self.labels[row])


def _scene(trace: Trace, finding: Finding) -> _Scene | None:
    """Return the scene of a finding; None if its array is not to be found, or has no such element."""
    for region in trace.regions:
        fits = len(region.shape) == len(finding.index) and all(
            0 <= number < extent for number, extent in zip(finding.index, region.shape, strict=True)
        )
        if region.name == finding.array and finding.index and fits:
            return _Scene(trace, finding, region)
    return None


def _race(scene: _Scene, most: int) -> Picture:
    """Show the accesses that nothing orders, between the same barriers if they are of one block."""
    lines = scene.finding.lines
    accesses = [access for access in scene.accesses if access.line in lines]
    unit: Callable[[Access], int] = lambda access: access.block  # noqa: E731
    if len({thread.block for thread in scene.finding.threads}) == 1:
        accesses = _between_barriers(scene, [each for each in accesses if each.block == scene.block])
        unit = lambda access: access.thread  # noqa: E731
    cells = contested(accesses, unit)
    mark = "one of these writes, and nothing makes it wait for the other"
    return scene.drawn(most, "touch", accesses, lambda access: access.cell in cells, mark, lines=lines)


def _came_between(scene: _Scene, most: int) -> Picture:
    """Show the operations of two threads on one element, one of them between two of the other."""
    lines = scene.finding.lines
    threads = {scene.geometry.number(each) for each in scene.finding.threads}
    accesses = [access for access in scene.accesses if access.line in lines]
    mark = "one of these threads comes between two operations of the other"
    return scene.drawn(
        most,
        "touch",
        accesses,
        lambda access: access.thread in threads and scene.row_of(access) == scene.row,
        mark,
        lines=lines,
    )


def _between_barriers(scene: _Scene, accesses: list[Access]) -> list[Access]:
    """Keep what lies between the first two barriers between which the finding's element is contested."""
    here = [access for access in accesses if scene.row_of(access) == scene.row]
    for epoch in sorted({access.epoch for access in here}):
        if contested([each for each in here if each.epoch == epoch], lambda access: access.thread):
            return [access for access in accesses if access.epoch == epoch]
    return accesses


def _unset(scene: _Scene, most: int) -> Picture:
    """Show the reads of the line, those before any write marked."""
    lines = scene.finding.lines
    early = {access.position for access in early_reads(scene.trace)}
    accesses = [access for access in scene.accesses if access.line in lines]
    mark = "reads before anything was written"
    return scene.drawn(most, "touch", accesses, lambda each: each.position in early, mark, lines=lines)


def _wrong(scene: _Scene, most: int) -> Picture:
    """Show who changes the elements around one whose value is wrong, and that one's marked."""
    here = any(scene.row_of(access) == scene.row for access in scene.changes)
    return scene.drawn(
        most,
        "write",
        scene.changes,
        lambda access: scene.row_of(access) == scene.row,
        "writes the wrong value",
        note="wrong" if here else NEVER_WRITTEN,
    )


def _changed(scene: _Scene, most: int) -> Picture:
    """Show who changes the elements of an input."""
    return scene.drawn(most, "write", scene.changes, lambda _: True, "changes an input", note="changed")


# --- Requests of a warp ---------------------------------------------------------------------------------


def _of_sectors(scene: _Scene, most: int) -> Picture:
    """Show which sectors of 32 bytes the threads of a warp touch at once."""
    request = _dearest(scene, scene.trace.figures.plain)
    rows = [byte_of(event) // SECTOR_BYTES for event in request]
    heading = (
        f"One warp touches {count(len(set(rows)), 'sector')} of {SECTOR_BYTES} bytes of "
        f"{scene.region.name} at once in line {scene.finding.line}"
    )
    return _of_request(scene, heading, "sector", request, rows, set(), most)


def _of_banks(scene: _Scene, most: int) -> Picture:
    """Show which banks of shared memory the threads of a warp want at once."""
    request = _dearest(scene, scene.trace.figures.in_shared)
    wanted = [word_and_bank(event) for event in request]
    words = Counter(bank for _, bank in set(wanted))
    heading = (
        f"One warp wants words of {scene.region.name} from {count(len(words), 'bank')} at once in line "
        f"{scene.finding.line}"
    )
    crowded = {bank for bank, n in words.items() if n > 1}
    return _of_request(scene, heading, "bank", request, [bank for _, bank in wanted], crowded, most)


def _dearest(scene: _Scene, instructions: list[Instruction]) -> list[Event]:
    """Return the dearest request of the finding's line to its array."""
    line = scene.finding.line
    return max(
        (each for each in instructions if each.region is scene.region and each.line == line),
        key=lambda each: each.mean,
    ).dearest


def _of_request(
    scene: _Scene,
    heading: str,
    what: str,
    request: list[Event],
    rows: list[int],
    marked: set[int],
    most: int,
) -> Picture:
    """Show threads above and sectors or banks below, around the first one that is marked."""
    threads = [event[5].thread for event in request]
    touched = [
        _Touched(thread, row, _LETTER[event[2]], row in marked)
        for thread, row, event in zip(threads, rows, request, strict=True)
    ]
    first = min(marked, default=min(rows))
    seen = [thread for thread, row in zip(threads, rows, strict=True) if row == first]
    return _composed(
        heading,
        _title_of_threads(scene.geometry, threads),
        touched,
        _Axis(threads, _label_of_threads(scene.geometry, threads), seen),
        _Axis(sorted(set(rows)), lambda row: f"{what} {row}", [first]),
        most=most,
        mark="different words of one bank, which come one after the other",
    )


# --- Threads at barriers, and indices outside an array --------------------------------------------------

_NOT_WAITING = {RETURNED: "has returned", FAILED: "has failed"}


def _of_a_barrier(geometry: Geometry, remark: Remark, most: int) -> Picture:
    """Show where the threads of a block stand; neighbours that stand together count as one."""
    groups = _runs(remark.states)
    states = sorted({state for _, state in remark.states}, key=lambda state: (state <= 0, state))
    threads = [thread for thread, _ in remark.states]
    label = _label_of_threads(geometry, threads)
    touched = [_Touched(first, states.index(state), "x", state != states[0]) for first, _, state in groups]
    labels = {
        first: label(first) if first == last else f"{label(first)}-{label(last)}" for first, last, _ in groups
    }
    concerned = [
        first for first, last, _ in groups if any(first <= thread <= last for thread in remark.threads)
    ]
    return _composed(
        "Where the threads of one block stand",
        _title_of_threads(geometry, threads),
        touched,
        _Axis([first for first, _, _ in groups], labels.__getitem__, concerned),
        _Axis(range(len(states)), lambda row: _standing(states[row]), range(len(states))),
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


def _standing(state: int) -> str:
    return _NOT_WAITING.get(state) or f"line {state}"


def _of_indices(trace: Trace, finding: Finding, remarks: Sequence[Remark], most: int) -> Picture:
    """Show which threads ask for elements that an array does not have, or has at its other end."""
    region = next(each for each in trace.regions if each.name == finding.array)
    letter = _ASKS_FOR[remarks[0].what.split()[0]]
    touched, rows = (_by_number if len(region.shape) == 1 else _by_index)(region, remarks, letter)
    if len(region.shape) == 1:
        touched += _neighbours(trace, finding, region, remarks)
    threads = sorted({each.thread for each in touched})
    return _composed(
        f"Which threads ask for which elements of {region.name} in line {finding.line}",
        _title_of_threads(trace.geometry, threads),
        touched,
        _Axis(threads, _label_of_threads(trace.geometry, threads), [remarks[0].thread]),
        rows,
        most=most,
        notes=_ends(region, remarks),
        mark="no such element" if finding.kind == "out_of_range" else "counted from the end",
    )


def _by_index(region: Region, remarks: Sequence[Remark], letter: str) -> tuple[list[_Touched], _Axis]:
    """Let there be a row for each element asked for, in ascending order."""
    asked = sorted({remark.index for remark in remarks})
    touched = [_Touched(remark.thread, asked.index(remark.index), letter, True) for remark in remarks]
    centre = [asked.index(remarks[0].index)]
    return touched, _Axis(range(len(asked)), lambda row: element(region.name, asked[row]), centre)


def _by_number(region: Region, remarks: Sequence[Remark], letter: str) -> tuple[list[_Touched], _Axis]:
    """Let the rows of a vector go on before its first and behind its last element."""
    touched = [_Touched(remark.thread, remark.index[0], letter, True) for remark in remarks]
    asked = [remark.index[0] for remark in remarks]
    last = region.shape[0] - 1
    ends = {end for end in _ends(region, remarks) if 0 <= end <= last}
    span = range(min(0, *asked), max(last, *asked) + 1)
    return touched, _Axis(span, lambda row: element(region.name, [row]), sorted({*ends, asked[0]}))


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


def _neighbours(trace: Trace, finding: Finding, region: Region, remarks: Sequence[Remark]) -> list[_Touched]:
    """Return what other threads rightly do in the same line near the ends of a vector."""
    wrong = {remark.thread for remark in remarks}
    ends = [end for end in _ends(region, remarks) if end >= 0]
    found = []
    for access in trace.memory:
        if access.region is region and access.line == finding.line and access.thread not in wrong:
            row = (access.at - region.start) // (region.steps[0] or 1)
            if any(abs(row - end) < _NEAR for end in ends):
                found.append(_Touched(access.thread, row, _LETTER[access.kind]))
    return found


_DRAWN: dict[str, Callable[[_Scene, int], Picture]] = {
    "race": _race,
    "came_between": _came_between,
    "uninitialised": _unset,
    "wrong": _wrong,
    "unread": _wrong,
    "input_changed": _changed,
    "uncoalesced": _of_sectors,
    "bank_conflict": _of_banks,
}
