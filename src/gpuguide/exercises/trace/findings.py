"""What can be wrong with a kernel, as data: a kind, one plain sentence, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpuguide.errors import unknown

__all__ = ["KINDS", "Finding", "ThreadId"]

#: Every kind of finding, the most important first.
KINDS = (
    "compile",
    "unsupported",
    "endless",
    "exception",
    "out_of_range",
    "divergent_barrier",
    "missed_barrier",
    "race",
    "negative_index",
    "uninitialised",
    "input_changed",
    "wrong",
    "written_twice",
    "never_written",
    "uncoalesced",
    "bank_conflict",
    "limit",
    "gpu",
)


class ThreadId(NamedTuple):
    """One thread of a launch: its block and its place in the block, each with as many axes as the launch.

    Attributes
    ----------
    block, thread : tuple of int
        ``blockIdx`` and ``threadIdx``, x first.

    Examples
    --------
    >>> print(ThreadId((0,), (3,)))
    thread 3 of block 0
    >>> print(ThreadId((1, 0), (3, 7)))
    thread (3, 7) of block (1, 0)
    """

    block: tuple[int, ...]
    thread: tuple[int, ...]

    def __str__(self) -> str:
        return f"thread {numbers(self.thread)} of block {numbers(self.block)}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    message : str
        One plain sentence that names the array, the index, the line, the block and the thread.
    line : int or None
        The line of the reader's source to look at first, counted from 1.
    lines : tuple of int
        All lines concerned, in ascending order; the one line by default.
    array : str
        The array concerned, as the reader's kernel calls it; empty where there is none.
    index : tuple of int
        The element concerned, one number per axis; empty if there is none.
    threads : tuple of ThreadId
        The threads concerned, the lowest first, at most a few.

    Raises
    ------
    UnknownNameError
        If `kind` is not one of `KINDS`.

    Examples
    --------
    >>> finding = Finding("out_of_range", "Thread 32 of block 0 reads x[32] in line 4.", line=4, array="x")
    >>> print(finding)
    Thread 32 of block 0 reads x[32] in line 4.
    >>> finding.lines
    (4,)
    """

    kind: str
    message: str
    line: int | None = None
    lines: tuple[int, ...] = ()
    array: str = ""
    index: tuple[int, ...] = ()
    threads: tuple[ThreadId, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("kind of finding", self.kind, KINDS)
        if not self.lines and self.line is not None:
            object.__setattr__(self, "lines", (self.line,))

    def __str__(self) -> str:
        return self.message

    @property
    def order(self) -> tuple[object, ...]:
        """What findings are sorted by: the kind first, then the place in the source, then the element."""
        return (KINDS.index(self.kind), self.lines, self.array, self.index, self.threads, self.message)


def numbers(index: tuple[int, ...]) -> str:
    """Write an index as a reader does: one number bare, several in parentheses."""
    return str(index[0]) if len(index) == 1 else str(tuple(index))
