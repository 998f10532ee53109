"""What can be wrong with a kernel, as data: a kind, one plain sentence, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuguide.errors import unknown

__all__ = ["KINDS", "Finding", "ThreadId"]

#: Every kind of finding, the most important first.
KINDS = (
    "compile",
    "signature",
    "unsupported",
    "endless",
    "exception",
    "memory",
    "out_of_range",
    "no_elements",
    "too_short",
    "beyond_the_end",
    "one_a_block",
    "divergent_barrier",
    "missed_barrier",
    "missing_lane",
    "race",
    "unfinished",
    "came_between",
    "negative_index",
    "uninitialised",
    "input_changed",
    "wrong",
    "added_up",
    "never_written",
    "unread",
    "narrow",
    "uncoalesced",
    "bank_conflict",
    "float64",
    "cold",
    "limit",
    "gpu",
)


class ThreadId(NamedTuple):
    """One thread of a launch: its block and its place in the block, each with as many axes as the launch."""

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
        One or two sentences that name array, index, line, block and thread where they apply.
    line : int, optional
        The line of the source to look at, counted from 1.
    lines : tuple of int
        All lines concerned; by default `line` alone.
    array : str
        Name of the array concerned, as the kernel calls it; empty if there is none.
    index : tuple of int
        Index of the element concerned; empty if there is none.
    threads : tuple of ThreadId
        Threads concerned, the first of them named in the message.

    Raises
    ------
    UnknownNameError
        `kind` is none of `KINDS`.

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


# --- Parts of sentences ---------------------------------------------------------------------------------


def numbers(index: tuple[int, ...]) -> str:
    """Write an index as a reader does: one number bare, several in parentheses."""
    return str(index[0]) if len(index) == 1 else str(tuple(index))


def count(n: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{n} {singular if n == 1 else plural or singular + 's'}"


def joined(words: Sequence[str]) -> str:
    """Return words with commas and an "and"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def element(name: str, index: Sequence[object]) -> str:
    """Return an element as source code writes it."""
    return f"{name}[{', '.join(_part(part) for part in index)}]"


def _part(part: object) -> str:
    if not isinstance(part, slice):
        return str(part)
    ends = f"{'' if part.start is None else part.start}:{'' if part.stop is None else part.stop}"
    return ends if part.step is None else f"{ends}:{part.step}"


def more(n: int, what: str, *, holds: str = "The same holds for") -> str:
    """Say of how many others the same is true; nothing if there are none."""
    return "" if n < 1 else f" {holds} {count(n, f'more {what}')}."


def several_types(kinds: Sequence[str]) -> str:
    """Say that a loop goes over a tuple of several types."""
    return f"Numba loops over a tuple only if all its elements are of one type, not of {joined(kinds)}"


def with_capital(sentence: str) -> str:
    """Return a sentence with a capital first letter."""
    return sentence[:1].upper() + sentence[1:]
