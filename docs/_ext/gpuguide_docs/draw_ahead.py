"""Draws what changed on all cores before the pages are replayed, which then find their figures kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from gpuguide_docs.cells import Cell, read_cells
from gpuguide_docs.drawing import draw, is_drawn
from gpuguide_docs.execution import CellError
from gpuguide_docs.layout import Layout
from gpuguide_docs.on_all_cores import on_all_cores
from gpuguide_docs.pages import Page, load_pages
from gpuguide_docs.states import states_of

__all__ = ["draw_ahead", "undrawn"]


def draw_ahead(layout: Layout, workers: int, meanwhile: Callable[[], object] | None = None) -> list[str]:
    """Draw the pages whose figures are not kept, several at once.

    Parameters
    ----------
    layout : Layout
        Where the project lies.
    workers : int
        How many at once; with one, each page draws at its turn.
    meanwhile : callable, optional
        What this process does while others draw; it runs in any case.

    Returns
    -------
    list of str
        Names of the pages that were drawn, those with the most cells first. A cell that fails is drawn again,
        and reported, at its page's turn.
    """
    pages = undrawn(layout) if workers > 1 else []
    if pages:
        # The forked processes share what is imported here.
        import matplotlib.pyplot  # noqa: F401
    on_all_cores([partial(_draw, layout, page, cells) for page, cells in pages], workers, meanwhile)
    return [page.name for page, _ in pages]


def undrawn(layout: Layout) -> list[tuple[Page, tuple[Cell, ...]]]:
    """Find the pages that show figures of a current recording which are not kept.

    Parameters
    ----------
    layout : Layout
        Where the project lies.

    Returns
    -------
    list of (Page, tuple of Cell)
        With its drawn cells; those with the most cells first.
    """
    states = states_of(layout)
    scripts = [page for page in load_pages(layout) if page.script(layout).is_file()]
    current = [page for page in scripts if states[page.name].current]
    found = [(page, _drawn(read_cells(page.script(layout)))) for page in current]
    waiting = [
        (page, cells)
        for page, cells in found
        if cells and not is_drawn(layout, page.name, cells, states[page.name].digest)
    ]
    return sorted(waiting, key=lambda item: -len(item[1]))


def _drawn(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    return tuple(cell for cell in cells if cell.kind == "drawn")


def _draw(layout: Layout, page: Page, cells: tuple[Cell, ...]) -> None:
    state = states_of(layout)[page.name]
    assert state.recording is not None
    try:
        draw(layout, page.name, cells, state.recording, state.digest, page.script(layout))
    except CellError:
        return
