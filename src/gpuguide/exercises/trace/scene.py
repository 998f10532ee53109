"""Where a finding happened: its array, its threads, and how both are labelled in a drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.columns import Flags, Ints
from gpuguide.exercises.trace.events import ATOMIC, EXCHANGE, READ, WRITE
from gpuguide.exercises.trace.findings import Finding, numbers
from gpuguide.exercises.trace.geometry import Geometry
from gpuguide.exercises.trace.picture import Axis, Touched
from gpuguide.exercises.trace.regions import Region
from gpuguide.exercises.trace.trace import Trace
from gpuguide.exercises.trace.wording import element

__all__ = ["LETTERS", "Scene", "label_of_threads", "title_of_threads"]

LETTERS = {READ: "r", WRITE: "w", ATOMIC: "a", EXCHANGE: "a"}
#: The row of an element that an overlapping array alone has.
_NOWHERE = -(10**9)
#: Elements on either side of the one concerned.
_AROUND = 4


class Scene:
    """The surroundings of a finding about an element of an array.

    Parameters
    ----------
    trace : Trace
        Whose finding it is.
    finding : Finding
        With an array and an index.

    Attributes
    ----------
    region : Region
        The array.
    row : int
        The element, numbered in C order.
    """

    def __init__(self, trace: Trace, finding: Finding, region: Region) -> None:
        self.trace, self.finding, self.region = trace, finding, region
        self.record = trace.record
        self.geometry = trace.record.setting.geometry
        self.addresses = region.addresses()
        self.row = int(np.ravel_multi_index(finding.index, region.shape))

    @classmethod
    def of(cls, trace: Trace, finding: Finding) -> Scene | None:
        """Return the scene of a finding; None if its array is not to be found, or has no such element."""
        for region in trace.record.setting.regions:
            fits = len(region.shape) == len(finding.index) and all(
                0 <= number < extent for number, extent in zip(finding.index, region.shape, strict=True)
            )
            if region.name == finding.array and finding.index and fits:
                return cls(trace, finding, region)
        return None

    @cached_property
    def accesses(self) -> Accesses:
        """All accesses to the array's memory; in shared memory those of the finding's block."""
        memory, regions = self.record.memory, self.record.setting.regions
        same = [n for n, each in enumerate(regions) if each.base + each.alias == self.home]
        found = memory[np.isin(memory.region, same)]
        if self.region.space == "shared" and self.finding.threads:
            found = found[found.block == self.block]
        return found

    @property
    def block(self) -> int:
        """The block of the finding's first thread."""
        return self.geometry.number(self.finding.threads[0]) // self.geometry.threads_per_block

    @property
    def home(self) -> int:
        """The lowest address of the memory that overlapping arrays share."""
        return self.region.base + self.region.alias

    def in_lines(self) -> Accesses:
        """Return the accesses in the finding's lines."""
        return self.accesses[np.isin(self.accesses.line, self.finding.lines)]

    def touched(self, accesses: Accesses, marked: Flags | None = None) -> list[Touched]:
        """Return accesses to elements near the one concerned, by thread and row."""
        rows = self.rows_of(accesses)
        flags = np.zeros(len(accesses), bool) if marked is None else marked
        near = np.abs(rows - self.row) <= _AROUND
        columns = (accesses.thread[near], rows[near], accesses.kind[near], flags[near])
        return [
            Touched(thread, row, LETTERS[kind], flag)
            for thread, row, kind, flag in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def rows_of(self, accesses: Accesses) -> Ints:
        """Return the number of the element that each access touches, in C order."""
        regions = self.record.setting.regions
        alias = np.array([region.alias for region in regions], np.int64)[accesses.region]
        flat = self.addresses.ravel() + self.region.alias
        order = np.argsort(flat, kind="stable")
        address = accesses.address + alias
        at = np.minimum(np.searchsorted(flat[order], address), len(flat) - 1)
        rows: Ints = order[at]
        return np.where(flat[rows] == address, rows, _NOWHERE)

    def element_axis(self, centre: Sequence[int] = ()) -> Axis:
        """Return the array's elements as what stands below."""
        size = self.addresses.size
        low, high = max(0, self.row - _AROUND), min(size - 1, self.row + _AROUND)
        return Axis(range(size), self.label, centre or range(low, high + 1))

    def label(self, row: int) -> str:
        """Return the label of an element."""
        return element(self.region.name, [int(each) for each in np.unravel_index(row, self.region.shape)])

    def thread_axis(self, touched: Sequence[Touched]) -> Axis:
        """Return the threads that touch something, and those of the finding, as what stands above."""
        centre = [self.geometry.number(thread) for thread in self.finding.threads]
        threads = sorted({each.thread for each in touched} | set(centre))
        return Axis(threads, label_of_threads(self.geometry, threads), centre)


def label_of_threads(geometry: Geometry, threads: Sequence[int]) -> Callable[[int], str]:
    """Return how threads are labelled: with their block in front if they are of several blocks."""
    one_block = len({number // geometry.threads_per_block for number in threads}) < 2

    def label(number: int) -> str:
        thread = geometry.thread_id(number)
        own = _bare(thread.thread)
        return own if one_block else f"{_bare(thread.block)}:{own}"

    return label


def title_of_threads(geometry: Geometry, threads: Sequence[int]) -> str:
    """Return what the labels of threads number."""
    blocks = {geometry.thread_id(number).block for number in threads}
    return f"thread of block {numbers(blocks.pop())}" if len(blocks) == 1 else "block:thread"


def _bare(index: tuple[int, ...]) -> str:
    return ",".join(map(str, index))
