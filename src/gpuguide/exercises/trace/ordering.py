"""Which of two accesses comes first, whatever the order of execution.

Within a block, barriers order: an access before the n-th barrier comes before any access after it. Within a
warp, ``syncwarp`` does, between the lanes that take part; shuffles and votes order nothing. Each lane counts
its synchronisations (its phase) and keeps a clock: up to which phase it knows each lane of its warp to be.
Between blocks only a handover orders: what a block did before a fence that an atomic operation follows comes
before what another block does after a later atomic operation on the same element.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.columns import Flags, Ints
from gpuguide.exercises.trace.events import ATOMIC, EXCHANGE, FENCE

__all__ = ["Handovers", "before_in_block"]


def before_in_block(accesses: Accesses, first: Ints, second: Ints) -> Flags:
    """Say, pair by pair, whether an access of a block is certain to come before another one of it.

    Parameters
    ----------
    accesses : Accesses
        The accesses that the positions refer to.
    first, second : ndarray of int64
        Positions in `accesses`.

    Returns
    -------
    ndarray of bool
        One per pair.
    """
    thread, epoch = accesses.thread, accesses.epoch
    same_thread = thread[first] == thread[second]
    in_turn = accesses.position[first] < accesses.position[second]
    known = accesses.setting.clocks[accesses.clock[second], accesses.lane[first]] > accesses.phase[first]
    same_warp = (accesses.warp[first] == accesses.warp[second]) & (epoch[first] == epoch[second])
    return np.where(same_thread, in_turn, (epoch[first] < epoch[second]) | (same_warp & known))


@dataclass(frozen=True)
class _End:
    """One end of a handover: an atomic operation of a thread, and the fence before it, if any."""

    cell: int
    thread: int
    epoch: int
    position: int
    fence: int = -1


class Handovers:
    """The handovers between the blocks of a launch.

    Parameters
    ----------
    accesses : Accesses
        All atomic operations and fences of the launch.
    """

    def __init__(self, accesses: Accesses) -> None:
        self._ends: dict[int, list[_End]] = defaultdict(list)
        fences: dict[int, int] = {}
        if not np.any(accesses.kind == FENCE):
            return
        columns = (
            accesses.kind, accesses.thread, accesses.block, accesses.epoch, accesses.position, accesses.cell
        )  # fmt: skip
        for kind, thread, block, epoch, position, cell in zip(*(c.tolist() for c in columns), strict=True):
            if kind == FENCE:
                fences[thread] = position
            elif kind in (ATOMIC, EXCHANGE):
                self._ends[block].append(_End(cell, thread, epoch, position, fences.get(thread, -1)))

    def __bool__(self) -> bool:
        return any(end.fence >= 0 for ends in self._ends.values() for end in ends)

    def between(self, accesses: Accesses, first: Ints, second: Ints) -> Flags:
        """Say, pair by pair, whether a handover puts an access of a block before one of another block."""
        found = np.zeros(len(first), bool)
        blocks = np.stack([accesses.block[first], accesses.block[second]], axis=1)
        for giver, taker in np.unique(blocks, axis=0).tolist():
            pairs = np.flatnonzero((blocks == (giver, taker)).all(axis=1))
            given, taken = first[pairs], second[pairs]
            for end in self._ends[giver]:
                if end.fence < 0:
                    continue
                before = np.where(
                    accesses.thread[given] == end.thread,
                    accesses.position[given] < end.fence,
                    accesses.epoch[given] < end.epoch,
                )
                for other in self._ends[taker]:
                    if other.cell == end.cell and other.position > end.position:
                        after = np.where(
                            accesses.thread[taken] == other.thread,
                            accesses.position[taken] > other.position,
                            accesses.epoch[taken] > other.epoch,
                        )
                        found[pairs] |= before & after
        return found
