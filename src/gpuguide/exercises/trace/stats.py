"""The figures of a launch, as data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ArrayStats", "TraceStats"]


@dataclass(frozen=True)
class ArrayStats:
    """How one array was used; an atomic operation counts as one read and one write of its element.

    Attributes
    ----------
    name, space : str
        As the kernel calls it; ``"global"`` or ``"shared"``.
    reads, writes, atomics : int
        Plain loads, plain stores, atomic operations.
    unique_reads, unique_writes : int
        Elements read and written at least once.
    reads_per_element, writes_per_element : int
        Of the element read, and of the element written, most often.
    least_writes_per_element : int
        Of the element written least often; 0 where one was not written.
    sectors_per_request : float
        Global memory: 32-byte sectors that a warp's load or store touches, on average.
    worst_sectors_per_request : float
        The same, of the worst line.
    worst_line : int or None
        That line.
    bank_conflicts : int
        Shared memory: the worst number of passes that one request takes; 1 is none.
    """

    name: str
    space: str
    reads: int = 0
    writes: int = 0
    atomics: int = 0
    unique_reads: int = 0
    unique_writes: int = 0
    reads_per_element: int = 0
    writes_per_element: int = 0
    least_writes_per_element: int = 0
    sectors_per_request: float = 0.0
    worst_sectors_per_request: float = 0.0
    worst_line: int | None = None
    bank_conflicts: int = 1


@dataclass(frozen=True)
class TraceStats:
    """Figures of one launch. Reads, writes, atomics and bytes are those of global memory.

    Attributes
    ----------
    threads : int
        Threads launched.
    active_threads : float
        Share of them that touched global memory.
    reads, writes, atomics : int
        Plain loads, plain stores and atomic operations.
    bytes_read, bytes_written : int
        As the instructions asked, repeated reads counted each time; an atomic counts in both.
    barriers : int
        Block-wide barriers that the busiest block passed.
    loop_turns : int
        Turns of loops that the busiest thread made.
    sectors_per_request : float
        Of the worst line that loads or stores global memory: 4 is best for 32 float32; 0 without any.
    bank_conflict_degree : int
        Worst number of passes of one request to shared memory; 1 is none.
    shared_bytes : int
        Shared memory of a block, static and dynamic.
    divergent_warps : float
        Share of the warps whose threads took different ways at least once.
    divergent_branches : float
        Share of the branches, each counted once per warp that reaches it, at which its threads diverged. A
        loop over a range is one branch, at which threads diverge if they make different numbers of turns.
    arrays : tuple of ArrayStats
        The arguments in order, then the shared arrays.
    """

    threads: int = 0
    active_threads: float = 0.0
    reads: int = 0
    writes: int = 0
    atomics: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    barriers: int = 0
    loop_turns: int = 0
    sectors_per_request: float = 0.0
    bank_conflict_degree: int = 1
    shared_bytes: int = 0
    divergent_warps: float = 0.0
    divergent_branches: float = 0.0
    arrays: tuple[ArrayStats, ...] = ()
