"""Spreads a build over the cores: independent pieces of work, and documents long and short."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

from sphinx.builders import Builder
from sphinx.errors import SphinxParallelError
from sphinx.util.parallel import ParallelTasks, make_chunks, parallel_available

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["on_all_cores", "setup", "spread"]

Result = TypeVar("Result")


def on_all_cores(pieces: Sequence[Callable[[], Result]], workers: int) -> list[Result]:
    """Run independent functions.

    Parameters
    ----------
    pieces : sequence of callable
        They take no arguments; what they change in memory is lost. Whichever process is free takes the next,
        so the longest should come first.
    workers : int
        How many processes: Sphinx's ``-j``. With one, or where processes cannot be forked, the pieces run
        here, one after the other.

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
    errors: list[SphinxParallelError] = []
    tasks = ParallelTasks(workers)
    next_place = get_context("fork").Value("i", 0)
    for _ in range(min(workers, len(pieces))):
        tasks.add_task(partial(_play, pieces, next_place), result_func=partial(_keep, found, errors))
    tasks.join()
    for error in errors:
        raise error
    return [found[place] for place in range(len(pieces))]


def _play(
    pieces: Sequence[Callable[[], Result]], next_place: Synchronized[int]
) -> list[tuple[int, Result]] | SphinxParallelError:
    taken: list[tuple[int, Result]] = []
    try:
        while True:
            with next_place.get_lock():
                place = next_place.value
                next_place.value += 1
            if place >= len(pieces):
                return taken
            taken.append((place, pieces[place]()))
    except Exception as error:
        # Sphinx loses an error raised while tasks are still being added, but keeps what is returned.
        message = traceback.format_exception_only(error)[0].strip()
        return SphinxParallelError(message, traceback.format_exc())


def _keep(
    found: dict[int, Result],
    errors: list[SphinxParallelError],
    _argument: None,
    results: list[tuple[int, Result]] | SphinxParallelError,
) -> None:
    if isinstance(results, SphinxParallelError):
        errors.append(results)
    else:
        found.update(results)


def spread(docnames: list[str], workers: int) -> list[str]:
    """Order documents so that each batch of a parallel build holds some of every kind.

    Parameters
    ----------
    docnames : list of str
        Sorted, so that documents of a kind stand together.
    workers : int
        Processes that read or write; Sphinx cuts the list into a few batches for each.

    Returns
    -------
    list of str
        The same names. Otherwise one process would get the last batch, all long pages, while the others are
        idle.
    """
    n_batches = len(make_chunks(docnames, workers)) if docnames else 1
    return [name for first in range(n_batches) for name in docnames[first::n_batches]]


def _order(app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
    docnames[:] = spread(docnames, app.parallel)


def _spreading(write: Callable[..., None]) -> Callable[..., None]:
    """Make Sphinx write documents in such an order, too; it has no event for it."""

    @functools.wraps(write)
    def spreading(self: Builder, docnames: list[str], nproc: int, **options: Any) -> None:
        write(self, spread(docnames, nproc), nproc, **options)

    return spreading


def setup(app: Sphinx) -> None:
    """Order the documents before they are read and before they are written."""
    # Several builds may follow one another in one process, as in the tests.
    if not hasattr(Builder._write_parallel, "__wrapped__"):
        Builder._write_parallel = _spreading(Builder._write_parallel)  # type: ignore[method-assign]
    app.connect("env-before-read-docs", _order)
