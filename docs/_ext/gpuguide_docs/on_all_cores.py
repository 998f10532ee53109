"""Independent pieces of a build on several cores, by Sphinx's own forked tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from sphinx.util.parallel import ParallelTasks, parallel_available

__all__ = ["on_all_cores"]

Result = TypeVar("Result")


def on_all_cores(pieces: Sequence[Callable[[], Result]], workers: int) -> list[Result]:
    """Run functions that do not need one another.

    Parameters
    ----------
    pieces : sequence of callable
        Each takes nothing; what it changes in memory is lost. Long ones first use the cores best.
    workers : int
        How many run at once: Sphinx's ``-j``. With one, or where processes cannot be forked, they run here,
        one after the other.

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
        return [piece() for piece in pieces]
    found: dict[int, Result] = {}
    tasks = ParallelTasks(workers)
    for place, piece in enumerate(pieces):
        tasks.add_task(piece, result_func=partial(_keep, found, place))
    tasks.join()
    return [found[place] for place in range(len(pieces))]


def _keep(found: dict[int, Result], place: int, _argument: None, result: Result) -> None:
    found[place] = result
