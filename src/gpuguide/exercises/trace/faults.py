"""What ends a thread, or the launch, of the tracing simulator; and remarks on what a thread survives."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AccessError", "EndlessError", "Remark", "UnsupportedError"]


class UnsupportedError(Exception):
    """A kernel uses something that this simulator cannot judge; the message names it."""


class EndlessError(Exception):
    """A thread made more turns of loops than the launch allows.

    Parameters
    ----------
    line : int
        Of the loop.
    """

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"the loop in line {line} does not end")


class AccessError(Exception):
    """A wrong access.

    Parameters
    ----------
    kind : str
        Of the finding that it becomes.
    array : str
        The array's name.
    index : tuple of int
        As asked for; empty where it is not the index of the array itself.
    what : str
        What the thread does and why it is wrong: the sentence behind "Thread 3 of block 0".
    """

    def __init__(self, kind: str, array: str, index: tuple[int, ...], what: str) -> None:
        self.kind, self.array, self.index, self.what = kind, array, index, what
        super().__init__(what)


@dataclass(frozen=True)
class Remark:
    """One thing that one thread did wrong; findings sum up the remarks on all threads.

    Attributes
    ----------
    kind, array, index, what
        As of `AccessError`.
    line : int
        Of the source; 0 where there is none.
    thread : int
        Its number in the launch.
    lines : tuple of int
        All lines concerned, if there are several.
    threads : tuple of int
        All threads concerned, if there are several, by their numbers in the launch.
    states : tuple of tuple of int
        Of a barrier: every thread of the block with the line at which it waits.
    """

    kind: str
    line: int
    thread: int
    what: str
    array: str = ""
    index: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    states: tuple[tuple[int, int], ...] = ()
