"""Reads of memory that nothing was written to before, in whatever order the threads run.

A read is reported if every write to its element is certain to come after it, or there is none. Where a write
may come before or after, the two are a race and reported as such.
"""

from __future__ import annotations

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.columns import Flags, Ints, number_of_pairs, pairs_within, run_starts
from gpuguide.exercises.trace.events import ATOMIC, EXCHANGE, READ, WRITE
from gpuguide.exercises.trace.ordering import before_in_block

__all__ = ["unset_reads"]

_NEVER = np.iinfo(np.int64).max
#: Pairs of a read and a write between the same barriers that are looked at, at most.
_MOST_PAIRS = 2_000_000


def unset_reads(accesses: Accesses) -> Ints:
    """Find reads that cannot know what they get.

    Parameters
    ----------
    accesses : Accesses
        Those to arrays that hold nothing before the launch.

    Returns
    -------
    ndarray of int64
        Positions in `accesses`.
    """
    if not len(accesses):
        return np.empty(0, np.int64)
    cells, cell = np.unique(accesses.cell, return_inverse=True)
    is_read = np.isin(accesses.kind, (READ, ATOMIC))
    writes = np.flatnonzero(np.isin(accesses.kind, (WRITE, EXCHANGE)) | _sets_a_result(accesses))
    first_epoch = _least(cell[writes], accesses.epoch[writes], len(cells))[cell]
    lowest = _least(cell[writes], accesses.block[writes], len(cells))[cell]
    highest = -_least(cell[writes], -accesses.block[writes], len(cells))[cell]
    own_block_only = (lowest == accesses.block) & (highest == accesses.block)
    unset = is_read & ((first_epoch == _NEVER) | (own_block_only & (accesses.epoch < first_epoch)))
    unclear = np.flatnonzero(is_read & own_block_only & (accesses.epoch == first_epoch))
    late = _no_write_can_precede(accesses, cell, unclear, writes)
    return np.sort(np.concatenate([np.flatnonzero(unset), late]))


def _sets_a_result(accesses: Accesses) -> Flags:
    """Say which atomic operations may be the first on an element, as those that take NaN for nothing.

    In shared memory none may: it changes what the last block left there.
    """
    given = np.isin(accesses.region, accesses.setting.region_numbers("global"))
    firsts: Flags = (accesses.kind == ATOMIC) & given
    return firsts


def _least(group: Ints, values: Ints, n: int) -> Ints:
    """Return the least value of each of `n` groups."""
    least = np.full(n, _NEVER)
    np.minimum.at(least, group, values)
    return least


def _no_write_can_precede(accesses: Accesses, cell: Ints, reads: Ints, writes: Ints) -> Ints:
    """Return those reads that come before every write between the same two barriers."""
    reads = reads[~_own_write_before(accesses, cell, reads, writes)]
    if not len(reads):
        return reads
    epochs = dict(zip(cell[reads].tolist(), accesses.epoch[reads].tolist(), strict=True))
    rivals = writes[np.isin(cell[writes], cell[reads])]
    rivals = rivals[accesses.epoch[rivals] == [epochs[each] for each in cell[rivals].tolist()]]
    both = np.concatenate([reads, rivals])
    of_read = np.arange(len(both)) < len(reads)
    order = np.argsort(cell[both], kind="stable")
    starts = run_starts(cell[both][order])
    if number_of_pairs(starts, len(both)) > _MOST_PAIRS:
        return reads[:0]  # so many unordered writes that the race is found in any case
    first, second = (order[side] for side in pairs_within(starts, len(both)))
    mixed = of_read[first] & ~of_read[second]
    read, write = first[mixed], second[mixed]
    early = before_in_block(accesses, both[read], both[write]) | (both[read] == both[write])
    beaten = np.zeros(len(reads), bool)
    np.logical_or.at(beaten, read, ~early)
    return reads[~beaten]


def _own_write_before(accesses: Accesses, cell: Ints, reads: Ints, writes: Ints) -> Flags:
    """Say which reads follow a write of their own thread."""
    if not len(reads):
        return np.zeros(0, bool)
    key = cell * (int(accesses.thread.max()) + 1) + accesses.thread
    known, group = np.unique(key[writes], return_inverse=True)
    first = _least(group, accesses.position[writes], len(known))
    at = np.minimum(np.searchsorted(known, key[reads]), len(known) - 1)
    follows: Flags = (known[at] == key[reads]) & (first[at] < accesses.position[reads])
    return follows
