"""How what a thread does is packed into one integer each, and unpacked into columns afterwards.

A launch writes one flat list of integers. An event is not negative: an address (or, for a branch, the way
taken), the place in the source, and the kind. A mark is negative: from here on another segment (a thread
between two waits) or another path (the turns of the loops around) holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuguide.exercises.trace.columns import Flags, Ints

__all__ = [
    "ADDRESS_SHIFT",
    "ATOMIC",
    "BRANCH",
    "EXCHANGE",
    "FENCE",
    "LARGEST_LINE",
    "LARGEST_OFFSET",
    "LARGEST_PATH",
    "LINE_SHIFT",
    "OFFSET_SHIFT",
    "READ",
    "WRITE",
    "Events",
    "path_mark",
    "segment_mark",
    "unpack",
]

#: Kinds of events; EXCHANGE is an atomic operation that does not mind what was there.
READ, WRITE, ATOMIC, EXCHANGE, BRANCH, FENCE = range(6)

# An event, from the lowest bit: 3 bits of kind, 14 of the instruction's number in its function, 13 of the
# line at which the function starts, 33 of the address. An instruction is two bytes, hence the odd shift.
_KIND_BITS = 3
OFFSET_SHIFT = _KIND_BITS - 1
LINE_SHIFT = _KIND_BITS + 14
ADDRESS_SHIFT = LINE_SHIFT + 13
LARGEST_OFFSET = 2 ** (LINE_SHIFT - OFFSET_SHIFT) - 1
LARGEST_LINE = 2 ** (ADDRESS_SHIFT - LINE_SHIFT) - 1
LARGEST_PATH = 2**60 - 1


def segment_mark(segment: int) -> int:
    """Return the mark from which on events belong to a segment; its path is 0 until a path mark follows."""
    return -1 - 2 * segment


def path_mark(path: int) -> int:
    """Return the mark from which on events lie on a path."""
    return -2 - 2 * path


@dataclass(frozen=True)
class Events:
    """Events as columns, in the order in which they happened.

    Attributes
    ----------
    address : ndarray of int64
        The cell, over all arrays of the launch; of a branch whether the test was true.
    site : ndarray of int32
        The instruction: the first line of its function and its number there. Of a branch the line.
    kind : ndarray of int8
        READ, WRITE, ATOMIC, EXCHANGE, BRANCH or FENCE.
    segment : ndarray of int64
        Which thread, between which waits.
    path : ndarray of int64
        Turns of the loops around it, as one number.
    position : ndarray of int64
        Its place in the launch's log, so that some of the events still know their order.
    """

    address: Ints
    site: Ints
    kind: Ints
    segment: Ints
    path: Ints
    position: Ints

    def __len__(self) -> int:
        return len(self.address)

    def __getitem__(self, chosen: Ints | Flags) -> Events:
        """Return some of them, by mask or by position."""
        columns = (self.address, self.site, self.kind, self.segment, self.path, self.position)
        return Events(*(column[chosen] for column in columns))


def unpack(log: Ints) -> Events:
    """Unpack a launch's list of integers.

    Parameters
    ----------
    log : ndarray of int64, shape (n,)
        Marks and events; the first one, if any, is a segment's mark.

    Returns
    -------
    Events
        Without the marks.

    Examples
    --------
    >>> event = (5 << ADDRESS_SHIFT) + WRITE
    >>> events = unpack(np.array([segment_mark(7), event, path_mark(3), event]))
    >>> events.address.tolist(), events.segment.tolist(), events.path.tolist()
    ([5, 5], [7, 7], [0, 3])
    """
    is_mark = log < 0
    of_segment = is_mark & (log & 1 == 1)
    here = np.arange(len(log))
    last_mark = np.maximum.accumulate(np.where(is_mark, here, 0))
    last_segment = np.maximum.accumulate(np.where(of_segment, here, 0))
    chosen = np.flatnonzero(~is_mark)
    mark = last_mark[chosen]
    events = log[chosen]
    return Events(
        events >> ADDRESS_SHIFT,
        ((events & (2**ADDRESS_SHIFT - 1)) >> _KIND_BITS).astype(np.int32),
        (events & (2**_KIND_BITS - 1)).astype(np.int8),
        (-1 - log[last_segment[chosen]]) >> 1,
        np.where(of_segment[mark], 0, (-2 - log[mark]) >> 1),
        chosen,
    )
