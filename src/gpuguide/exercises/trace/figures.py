"""Counts what a launch did: accesses, bytes, sectors, passes and branches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.coalescing import Requests, bank_passes, divergent, requests, sectors
from gpuguide.exercises.trace.columns import Ints
from gpuguide.exercises.trace.events import ATOMIC, BRANCH, EXCHANGE, READ, WRITE
from gpuguide.exercises.trace.regions import Region
from gpuguide.exercises.trace.stats import ArrayStats, TraceStats

__all__ = ["Instruction", "Record"]

_CHANGES = (ATOMIC, EXCHANGE)


@dataclass(frozen=True)
class Instruction:
    """All requests of one instruction to one array.

    Attributes
    ----------
    region : int
        Number of the array.
    line, kind : int
        Line of the source; READ, WRITE, ATOMIC or EXCHANGE.
    first, last : int
        Its requests, ``first`` to ``last - 1``.
    costs : ndarray of int64
        Sectors, or passes, of each of them.
    """

    region: int
    line: int
    kind: int
    first: int
    last: int
    costs: Ints

    @property
    def mean(self) -> float:
        """Cost of a request on average."""
        return float(self.costs.mean())


class Record:
    """What a launch did, as far as anyone asks.

    Parameters
    ----------
    accesses : Accesses
        Everything noted: accesses to memory, branches, fences.
    barriers : int
        Block-wide barriers that the busiest block passed.
    loop_turns : int
        Turns of loops that the busiest thread made.
    """

    def __init__(self, accesses: Accesses, barriers: int, loop_turns: int) -> None:
        self.setting, self.barriers, self.loop_turns = accesses.setting, barriers, loop_turns
        self.branches = accesses[accesses.kind == BRANCH]
        self.memory = accesses[accesses.kind < BRANCH]

    @cached_property
    def in_global(self) -> Accesses:
        """Accesses to global memory."""
        return self.memory.of_space("global")

    @cached_property
    def in_shared(self) -> Accesses:
        """Accesses to shared memory."""
        return self.memory.of_space("shared")

    @cached_property
    def global_requests(self) -> Requests:
        """Requests to global memory."""
        return requests(self.in_global)

    @cached_property
    def shared_requests(self) -> Requests:
        """Requests to shared memory."""
        return requests(self.in_shared)

    @cached_property
    def global_instructions(self) -> list[Instruction]:
        """What touches global memory, with sectors as cost."""
        return _instructions(self.global_requests, sectors(self.global_requests))

    @cached_property
    def shared_instructions(self) -> list[Instruction]:
        """What touches shared memory, with passes as cost."""
        return _instructions(self.shared_requests, bank_passes(self.shared_requests))

    @cached_property
    def stats(self) -> TraceStats:
        """All figures."""
        kind, setting = self.in_global.kind, self.setting
        reads, writes = int((kind == READ).sum()), int((kind == WRITE).sum())
        changes = len(kind) - reads - writes
        size = _sizes(self.in_global)
        bytes_read, bytes_written = int(size[kind != WRITE].sum()), int(size[kind != READ].sum())
        branches = requests(self.branches, to_memory=False)
        parted = divergent(branches)
        warps = setting.geometry.blocks * setting.geometry.warps_per_block
        return TraceStats(
            threads=setting.geometry.threads,
            active_threads=len(np.unique(self.in_global.thread)) / setting.geometry.threads,
            reads=reads,
            writes=writes,
            atomics=changes,
            bytes_read=bytes_read,
            bytes_written=bytes_written,
            barriers=self.barriers,
            loop_turns=self.loop_turns,
            sectors_per_request=max((each.mean for each in self.plain_instructions), default=0.0),
            bank_conflict_degree=max((int(each.costs.max()) for each in self.shared_instructions), default=1),
            shared_bytes=sum(
                region.cells * region.dtype.itemsize for region in setting.regions if region.space == "shared"
            ),
            divergent_warps=len(np.unique(branches.accesses.warp[branches.starts][parted])) / warps,
            divergent_branches=float(parted.mean()) if len(parted) else 0.0,
            arrays=tuple(self._array(number, region) for number, region in self._shown()),
        )

    @property
    def plain_instructions(self) -> list[Instruction]:
        """Loads and stores of global memory; atomic operations go where the data says."""
        return [each for each in self.global_instructions if each.kind in (READ, WRITE)]

    def _shown(self) -> list[tuple[int, Region]]:
        """Return the arguments in order, then the shared arrays from the top of the source down."""
        numbered = list(enumerate(self.setting.regions))
        shared = [pair for pair in numbered if pair[1].space == "shared"]
        return [pair for pair in numbered if pair[1].space == "global"] + sorted(
            shared, key=lambda pair: (pair[1].line, pair[1].name)
        )

    def _array(self, number: int, region: Region) -> ArrayStats:
        used = self.memory[self.memory.region == number]
        reads, writes = self.times(number, READ), self.times(number, WRITE)
        plain = [each for each in self.plain_instructions if each.region == number]
        worst = max(plain, key=lambda each: (each.mean, -each.line), default=None)
        costs = np.concatenate([each.costs for each in plain]) if plain else np.zeros(1)
        passes = [int(each.costs.max()) for each in self.shared_instructions if each.region == number]
        return ArrayStats(
            name=region.name,
            space=region.space,
            reads=int((used.kind == READ).sum()),
            writes=int((used.kind == WRITE).sum()),
            atomics=int(np.isin(used.kind, _CHANGES).sum()),
            unique_reads=int((reads > 0).sum()),
            unique_writes=int((writes > 0).sum()),
            reads_per_element=int(reads.max(initial=0)),
            writes_per_element=int(writes.max(initial=0)),
            least_writes_per_element=int(writes.min()) if writes.size else 0,
            sectors_per_request=float(costs.mean()),
            worst_sectors_per_request=worst.mean if worst else 0.0,
            worst_line=worst.line if worst else None,
            bank_conflicts=max(passes, default=1),
        )

    def times(self, number: int, kind: int) -> Ints:
        """Count, for each element of an array, its reads or its writes; an atomic operation is both.

        The shared arrays of all blocks count as one.
        """
        region = self.setting.regions[number]
        used = self.memory[self.memory.region == number]
        chosen = np.isin(used.kind, (kind, *_CHANGES))
        cells: Ints = np.bincount(used.address[chosen] - region.base, minlength=region.cells)
        elements: Ints = cells[region.addresses() - region.base]
        return elements


def _instructions(gathered: Requests, costs: Ints) -> list[Instruction]:
    if not len(gathered):
        return []
    heads = gathered.accesses[gathered.starts]
    changes = (heads.site[1:] != heads.site[:-1]) | (heads.region[1:] != heads.region[:-1])
    starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
    return [
        Instruction(int(heads.region[a]), int(heads.line[a]), int(heads.kind[a]), a, b, costs[a:b])
        for a, b in zip(starts, [*starts[1:], len(gathered)], strict=True)
    ]


def _sizes(accesses: Accesses) -> Ints:
    sizes = np.array([region.dtype.itemsize for region in accesses.setting.regions] or [0], np.int64)
    return sizes[accesses.region] if len(accesses) else np.zeros(0, np.int64)
