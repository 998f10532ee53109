"""Groups in sorted columns: where they start, and the pairs within them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Numbers and answers, one of each per access.
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

__all__ = ["Flags", "Ints", "in_runs", "number_of_pairs", "pairs_within", "ranks", "run_starts"]


def run_starts(*columns: Ints) -> Ints:
    """Return where runs of rows start that are equal in all columns.

    Examples
    --------
    >>> run_starts(np.array([1, 1, 1, 2]), np.array([5, 5, 6, 6])).tolist()
    [0, 2, 3]
    """
    if not len(columns[0]):
        return np.empty(0, np.int64)
    new = np.zeros(len(columns[0]) - 1, bool)
    for column in columns:
        new |= column[1:] != column[:-1]
    return np.concatenate([[0], np.flatnonzero(new) + 1])


def in_runs(chosen: Flags, starts: Ints, n: int) -> Flags:
    """Say for each of `n` rows whether its run is chosen.

    Examples
    --------
    >>> in_runs(np.array([True, False]), np.array([0, 2]), 3).tolist()
    [True, True, False]
    """
    return np.repeat(chosen, np.diff(np.append(starts, n)))


def ranks(starts: Ints, n: int) -> Ints:
    """Return each row's place in its run, from 0.

    Examples
    --------
    >>> ranks(np.array([0, 2]), 3).tolist()
    [0, 1, 0]
    """
    return np.arange(n) - np.repeat(starts, np.diff(np.append(starts, n)))


def number_of_pairs(starts: Ints, n: int) -> int:
    """Return how many pairs `pairs_within` makes.

    Examples
    --------
    >>> number_of_pairs(np.array([0, 1]), 4)
    3
    """
    sizes = np.diff(np.append(starts, n))
    return int((sizes * (sizes - 1) // 2).sum())


def pairs_within(starts: Ints, n: int) -> tuple[Ints, Ints]:
    """Return all pairs of rows of the same run, the earlier row first.

    Examples
    --------
    >>> first, second = pairs_within(np.array([0, 1]), 4)
    >>> list(zip(first.tolist(), second.tolist()))
    [(1, 2), (1, 3), (2, 3)]
    """
    sizes = np.diff(np.append(starts, n))
    rows = np.arange(n)
    partners = np.repeat(starts + sizes, sizes) - rows - 1
    first = np.repeat(rows, partners)
    before = np.cumsum(partners) - partners
    second = first + 1 + np.arange(len(first)) - np.repeat(before, partners)
    return first, second
