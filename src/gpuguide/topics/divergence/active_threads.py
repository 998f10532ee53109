"""How many threads of a warp have work while it runs: worked out on the host from what each has to do."""

from __future__ import annotations

import numpy as np

from gpuguide.errors import ArgumentError

WARP = 32


def warp_turns(*paths: np.ndarray) -> int:
    """Count the turns that warps take: on each path as many as the thread that needs most of them.

    A warp whose threads want different paths walks through one after the other. On a path it stays until
    its last thread is done.

    Parameters
    ----------
    *paths : ndarray of int, shape (n_threads,)
        Turns that each thread takes on one path, threads in the order in which they are launched; 0 where
        a thread does not go. The last warp may lack threads.

    Returns
    -------
    int
        Turns, added up over all warps and paths.

    Raises
    ------
    ArgumentError
        There is no path, or they are not of one length.

    Examples
    --------
    >>> one_slow_thread = np.array([100] + 31 * [1])
    >>> warp_turns(one_slow_thread)
    100
    >>> even, odd = np.array(16 * [8, 0]), np.array(16 * [0, 8])
    >>> warp_turns(even, odd)
    16
    """
    if not paths or any(path.ndim != 1 or path.shape != paths[0].shape for path in paths):
        came = ", ".join(str(path.shape) for path in paths) or "none"
        raise ArgumentError(
            f"warp_turns expects one or more vectors of one length; got {came}."
        )
    return sum(int(_by_warp(path).max(axis=1).sum()) for path in paths)


def active_share(*paths: np.ndarray) -> float:
    """Work out the share of a warp's threads that have work, on average over its turns.

    Parameters
    ----------
    *paths : ndarray of int, shape (n_threads,)
        As for `warp_turns`.

    Returns
    -------
    float
        From 1/32 to 1; 1 if there is nothing to do.

    Raises
    ------
    ArgumentError
        As for `warp_turns`.

    Examples
    --------
    >>> active_share(np.full(64, 7)), active_share(np.array(16 * [8, 0]), np.array(16 * [0, 8]))
    (1.0, 0.5)
    """
    taken = warp_turns(*paths)
    useful = sum(int(path.sum(dtype=np.int64)) for path in paths)
    return useful / (WARP * taken) if taken else 1.0


def _by_warp(turns: np.ndarray) -> np.ndarray:
    padded = np.zeros(-(-turns.size // WARP) * WARP, np.int64)
    padded[: turns.size] = turns
    return padded.reshape(-1, WARP)
