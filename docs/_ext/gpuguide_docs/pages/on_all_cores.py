"""Independent pieces of a build on several cores, by Sphinx's own forked tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from sphinx.util.parallel import ParallelTasks, parallel_available

__all__ = ["on_all_cores"]

Result = TypeVar("Result")


def on_all_cores(
    pieces: Sequence[Callable[[], Result]], workers: int, meanwhile: Callable[[], object] | None = None
) -> list[Result]:
    """Run functions that do not need one another.

    Parameters
    ----------
    pieces : sequence of callable
        Each takes nothing; what it changes in memory is lost. They are dealt out in turn, the longest first
        at best.
    workers : int
        How many processes: Sphinx's ``-j``. With one, or where processes cannot be forked, the pieces run
        here, one after the other.
    meanwhile : callable, optional
        What this process does while the others work; it runs in any case.

    Returns
    -------
    list
        What each returned, in their order.

    Raises
    ------
    sphinx.errors.SphinxParallelError
        If one raises in a process of its own; holds the traceback.
    """
    if workers < 2 or len(pieces) < 2 or not parallel_available:
        if meanwhile:
            meanwhile()
        return [piece() for piece in pieces]
    found: dict[int, Result] = {}
    tasks = ParallelTasks(workers)
    for first in range(min(workers, len(pieces))):
        hand = range(first, len(pieces), workers)
        tasks.add_task(partial(_play, pieces, hand), result_func=partial(_keep, found, hand))
    if meanwhile:
        meanwhile()
    tasks.join()
    return [found[place] for place in range(len(pieces))]


def _play(pieces: Sequence[Callable[[], Result]], hand: range) -> list[Result]:
    return [pieces[place]() for place in hand]


def _keep(found: dict[int, Result], hand: range, _argument: None, results: list[Result]) -> None:
    found.update(zip(hand, results, strict=True))
