"""Spreads long and short documents over the processes that read: neighbours in the alphabet are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        Processes that read; Sphinx cuts the list into a few batches for each.

    Returns
    -------
    list of str
        The same names. Without it one process reads the last batch of long pages while the others rest.
    """
    n_batches = len(make_chunks(docnames, workers)) if docnames else 1
    return [name for first in range(n_batches) for name in docnames[first::n_batches]]


def _order(app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
    docnames[:] = spread(docnames, app.parallel)


def setup(app: Sphinx) -> None:
    """Order the documents before they are read."""
    app.connect("env-before-read-docs", _order)
