"""Counts the steps that warps take, on the host, from what each of their threads has to do."""

import numpy as np

WARP = 32


def warp_steps(*paths):
    """Add up the steps of all warps: on each path as many as the slowest of 32 neighbours takes.

    A path is a vector with the steps of each thread in the order of launch, 0 where it does not go.

    >>> one_slow_thread = np.array([100] + 31 * [1])
    >>> warp_steps(one_slow_thread)
    100
    >>> even, odd = np.array(16 * [8, 0]), np.array(16 * [0, 8])
    >>> warp_steps(even, odd)
    16
    """
    total = 0
    for path in paths:
        padded = np.zeros(-(-path.size // WARP) * WARP, np.int64)
        padded[: path.size] = path
        total += int(padded.reshape(-1, WARP).max(axis=1).sum())
    return total


def active_share(*paths):
    """Give the share of a warp's threads that have work, on average over its steps; 1 without any.

    >>> active_share(np.full(64, 7)), active_share(np.array(16 * [8, 0]), np.array(16 * [0, 8]))
    (1.0, 0.5)
    """
    taken = warp_steps(*paths)
    useful = sum(int(path.sum(dtype=np.int64)) for path in paths)
    return useful / (WARP * taken) if taken else 1.0
