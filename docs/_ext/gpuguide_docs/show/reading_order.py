"""Deals long and short documents out to the processes of a build: neighbours in the alphabet are alike."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sphinx.builders import Builder
from sphinx.util.parallel import make_chunks

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup", "spread"]


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
        The same names. Without it one process has the last batch, all long pages, while the others rest.
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
    if not hasattr(Builder._write_parallel, "__wrapped__"):
        Builder._write_parallel = _spreading(Builder._write_parallel)  # type: ignore[method-assign]
    app.connect("env-before-read-docs", _order)
