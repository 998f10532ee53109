"""What warps ask of memory: sectors per request, bank conflicts, and branches at which threads diverge.

The threads of a warp run in step: their k-th execution of one instruction, in the same turns of the loops
around it, is one request. Global memory answers it in sectors of 32 bytes; shared memory has 32 banks of
4 bytes, and a bank gives one word at a time. Requests for elements of 8 or 16 bytes go through shared memory
in halves or quarters of a warp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.columns import Flags, Ints, ranks, run_starts
from gpuguide.exercises.trace.geometry import WARP_SIZE

__all__ = [
    "SECTOR_BYTES",
    "Requests",
    "bank_passes",
    "bytes_of",
    "divergent",
    "requests",
    "sectors",
    "words_and_banks",
]

SECTOR_BYTES = 32
BANKS, BANK_BYTES = 32, 4


@dataclass(frozen=True)
class Requests:
    """Accesses grouped into the requests of warps.

    Attributes
    ----------
    accesses : Accesses
        Sorted by request, then by lane.
    starts : ndarray of int64
        Position of the first access of each request.
    """

    accesses: Accesses
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def number(self) -> Ints:
        """The number of each access's request."""
        return np.repeat(np.arange(len(self)), np.diff(np.append(self.starts, len(self.accesses))))

    def members(self, number: int) -> Accesses:
        """Return the accesses of one request, by ascending lane."""
        end = self.starts[number + 1] if number + 1 < len(self) else len(self.accesses)
        return self.accesses[np.arange(self.starts[number], end)]


def requests(accesses: Accesses, *, to_memory: bool = True) -> Requests:
    """Gather accesses into requests, sorted by instruction and array, then by warp.

    Parameters
    ----------
    accesses : Accesses
        To memory, or branches.
    to_memory : bool
        False for branches, whose address is none.

    Returns
    -------
    Requests
        All of them.
    """
    if not len(accesses):
        return Requests(accesses, np.empty(0, np.int64))
    region = accesses.region if to_memory else np.zeros(len(accesses), np.int64)
    keys = [accesses.site if to_memory else accesses.events.site, region, accesses.warp, accesses.path]
    order = np.lexsort([accesses.position, accesses.lane, *keys[::-1]])
    alike = run_starts(*(key[order] for key in keys), accesses.lane[order])
    occurrence = np.empty(len(order), np.int64)
    occurrence[order] = ranks(alike, len(order))
    if occurrence.any():
        keys.append(occurrence)
        order = np.lexsort([accesses.lane, *keys[::-1]])
    return Requests(accesses[order], run_starts(*(key[order] for key in keys)))


def sectors(gathered: Requests) -> Ints:
    """Return how many sectors each request to global memory touches.

    Parameters
    ----------
    gathered : Requests
        To global memory.

    Returns
    -------
    ndarray of int64
        One per request.
    """
    return _distinct(gathered.number, bytes_of(gathered.accesses) // SECTOR_BYTES, len(gathered))


def bank_passes(gathered: Requests) -> Ints:
    """Return how many passes shared memory takes for each request: 1 without a conflict.

    Parameters
    ----------
    gathered : Requests
        To shared memory.

    Returns
    -------
    ndarray of int64
        One per request, the worst of its halves or quarters if it has any.
    """
    if not len(gathered):
        return np.empty(0, np.int64)
    accesses, number = gathered.accesses, gathered.number
    width = np.maximum(itemsize_of(accesses), BANK_BYTES)
    parts = width // BANK_BYTES
    part = accesses.lane // (WARP_SIZE // parts)
    word, bank = words_and_banks(accesses)
    order = np.lexsort([word, bank, part, number])
    number, part, bank, word = (column[order] for column in (number, part, bank, word))
    distinct = run_starts(number, part, bank, word)
    number, part, bank = number[distinct], part[distinct], bank[distinct]
    crowds = run_starts(number, part, bank)
    sizes = np.diff(np.append(crowds, len(number)))
    passes = np.zeros(len(gathered), np.int64)
    np.maximum.at(passes, number[crowds], sizes)
    return passes


def words_and_banks(accesses: Accesses) -> tuple[Ints, Ints]:
    """Return the word of shared memory that each access wants, and the bank, or group of banks, with it."""
    width = np.maximum(itemsize_of(accesses), BANK_BYTES)
    word = bytes_of(accesses) // width
    return word, word % (BANKS * BANK_BYTES // width)


def divergent(gathered: Requests) -> Flags:
    """Say at which branches the threads of a warp go different ways.

    Parameters
    ----------
    gathered : Requests
        Of branches, whose address is 1 where the test was true, or a loop's number of turns.

    Returns
    -------
    ndarray of bool
        One per branch that a warp reaches.
    """
    if not len(gathered):
        return np.empty(0, bool)
    taken = gathered.accesses.address
    least, most = (kind.reduceat(taken, gathered.starts) for kind in (np.minimum, np.maximum))
    parted: Flags = least != most
    return parted


def _distinct(group: Ints, values: Ints, n: int) -> Ints:
    """Count the different values of each of `n` groups."""
    order = np.lexsort([values, group])
    group, values = group[order], values[order]
    return np.bincount(group[run_starts(group, values)], minlength=n)


def itemsize_of(accesses: Accesses) -> Ints:
    sizes = np.array([region.dtype.itemsize for region in accesses.setting.regions], np.int64)
    return sizes[accesses.region]


def bytes_of(accesses: Accesses) -> Ints:
    """Return where in its allocation each access begins."""
    regions = accesses.setting.regions
    bases = np.array([region.base for region in regions], np.int64)[accesses.region]
    offsets = np.array([region.byte_offset for region in regions], np.int64)[accesses.region]
    return (accesses.address - bases) * itemsize_of(accesses) + offsets
