"""Draws what changed on all cores before the pages are replayed, which then find their figures kept."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide.statements import DrawnPage, Stated
from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.files import file_digest
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.on_all_cores import on_all_cores
from gpuguide_docs.pages.pages_toml import Page, read_pages
from gpuguide_docs.record.execution import CellError, run_cell, value_text
from gpuguide_docs.replay.outputs import Drawing, Output, Picture, read_outputs, save_outputs
from gpuguide_docs.replay.states import PageState, States, states_of

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording

__all__ = [
    "catch_pictures",
    "draw",
    "draw_ahead",
    "drawing_key",
    "drawing_modules",
    "drawing_of",
    "is_drawn",
    "preset_namespace",
    "run_drawn",
    "shown",
    "undrawn",
]


_SCHEMA = "2"
#: The rooms and modules that what a drawn cell shows and states may depend on.
_ROOMS = ("results", "charts", "recordings")
# A drawn cell states claims through the one and facts through the other.
_MODULES = ("statements.py", "measure/session.py")


def preset_namespace(results: Mapping[str, Any], page: DrawnPage, ceilings: object) -> dict[str, Any]:
    """Give what a drawn cell finds: ``gg``, ``plt``, ``np``, the page's results, its facts and ceilings.

    Parameters
    ----------
    results : mapping
        Variable -> Results, under the names that the page gave them.
    page : DrawnPage
        Its facts grow with what the cells state.
    ceilings : Ceilings or None
        What the machine can do.

    Returns
    -------
    dict
        A new namespace.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import numpy as np

    import gpuguide as gg

    return {
        "__name__": "__main__",
        "gg": gg,
        "plt": plt,
        "np": np,
        "facts": page.facts,
        "ceilings": ceilings,
        **results,
    }


def run_drawn(cell: Cell, namespace: dict[str, Any], script: str, page: DrawnPage) -> Output:
    """Run one drawn cell in the guide's style; a warning of Matplotlib or NumPy in it is an error.

    Parameters
    ----------
    cell : Cell
        A drawn cell.
    namespace : dict
        From `preset_namespace`; changed by the cell.
    script : str
        File that messages name.
    page : DrawnPage
        Collects what the cell states.

    Returns
    -------
    Output
        What is shown under the cell.

    Raises
    ------
    CellError
        Names file, line and error: also of a claim that does not hold.
    """
    from gpuguide.charts.style import style

    with warnings.catch_warnings(), style(), page.collecting():
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("error", category)
        printed, value = run_cell(cell, namespace, script)
        return Output(*shown(printed, value), catch_pictures())


def shown(printed: str, value: object) -> tuple[str, str]:
    """Give the text and the markup that a notebook shows under a cell."""
    if _is_of_matplotlib(value):
        return printed, ""
    markup = getattr(value, "_repr_html_", None)
    html = markup() if callable(markup) and not isinstance(value, type) else None
    return (printed, html) if isinstance(html, str) else (printed + value_text(value), "")


def _is_of_matplotlib(value: object) -> bool:
    # What a plotting call returns is the figure itself; its repr would be noise under it.
    if type(value).__module__.split(".")[0] == "matplotlib":
        return True
    flat: Iterable[object] = ()
    if isinstance(value, list | tuple):
        flat = value
    elif type(value).__name__ == "ndarray" and str(getattr(value, "dtype", "")) == "object":
        flat = value.ravel()  # type: ignore[attr-defined]
    items = list(flat)
    return bool(items) and all(_is_of_matplotlib(item) for item in items)


def catch_pictures() -> tuple[Picture, ...]:
    """Save Matplotlib's open figures, in order, and close them.

    Returns
    -------
    tuple of Picture
        Deterministic SVG with alternative text; empty when Matplotlib was not even imported.
    """
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return ()
    from gpuguide.charts.style import alt_text, save_svg

    figures = [plt.figure(number) for number in plt.get_fignums()]
    try:
        return tuple(Picture(save_svg(figure), alt_text(figure)) for figure in figures)
    finally:
        plt.close("all")


def drawing_key(layout: Layout, cells: tuple[Cell, ...], digest: str) -> str:
    """Hash what the drawn outputs of a page depend on, besides other recordings that they read.

    Parameters
    ----------
    layout : Layout
        Where the package's source lies.
    cells : tuple of Cell
        The page's drawn cells.
    digest : str
        Of the page's recording.

    Returns
    -------
    str
        Hexadecimal SHA-256.
    """
    from gpuguide.recordings import canonical

    drawing = drawing_modules(layout)
    parts = [
        _SCHEMA,
        digest,
        _tools(),
        _contents(drawing, tuple(path.stat().st_mtime_ns for path in drawing)),
    ]
    parts += [canonical.digest(cell.content) for cell in cells]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def drawing_modules(layout: Layout) -> tuple[Path, ...]:
    """Give the package's modules that what a drawn cell shows may depend on.

    Parameters
    ----------
    layout : Layout
        Where the package's source lies.

    Returns
    -------
    tuple of pathlib.Path
        Sorted.
    """
    package = layout.source / "gpuguide"
    rooms = [path for room in _ROOMS for path in (package / room).rglob("*.py")]
    return tuple(sorted([*rooms, *(package / name for name in _MODULES)]))


@functools.cache
def _tools() -> str:
    return f"matplotlib {version('matplotlib')} numpy {version('numpy')}"


@functools.lru_cache(maxsize=4)
def _contents(paths: tuple[Path, ...], _stamps: tuple[int, ...]) -> str:
    # The bytes, not the canonical form: drawing anew after an edit of a comment costs little.
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name} {file_digest(path)}".encode())
    return whole.hexdigest()


def draw(
    layout: Layout, page: str, cells: tuple[Cell, ...], recording: Recording, digest: str, script: Path
) -> Drawing:
    """Give what a page's drawn cells come to, running them only when something they depend on changed.

    Parameters
    ----------
    layout : Layout
        Where the project lies; the cache is below it.
    page : str
        Name.
    cells : tuple of Cell
        The page's drawn cells, in order; they share one namespace.
    recording : Recording
        Current recording of the page.
    digest : str
        Its digest.
    script : pathlib.Path
        The page's script, for messages.

    Returns
    -------
    Drawing
        Outputs and statements.

    Raises
    ------
    CellError
        If a cell raises, or states a claim that does not hold.
    """
    if not cells:
        return Drawing()
    states = states_of(layout)
    folder = _folder(layout, page, cells, digest)
    kept = _load(folder, page, states)
    if kept is not None:
        return kept
    try:
        with _reads(page, states) as reads:
            drawn = DrawnPage(recording.facts, recording.ceilings)
            results = {name: recording.studies[study] for name, study in recording.names.items()}
            namespace = preset_namespace(results, drawn, recording.ceilings)
            outputs = tuple(run_drawn(cell, namespace, str(script), drawn) for cell in cells)
    except CellError as error:
        if isinstance(error.__cause__, _OtherPageWaitsError):
            return Drawing((None,) * len(cells))
        raise
    drawing = Drawing(outputs, drawn.stated())
    _keep(folder, drawing, reads)
    return drawing


def drawing_of(layout: Layout, state: PageState) -> Drawing:
    """Give what a page's own drawn cells come to; nothing where its recording is not current.

    Parameters
    ----------
    layout : Layout
        Where the project lies.
    state : PageState
        Of the page.

    Returns
    -------
    Drawing
        Kept for the rest of the build.

    Raises
    ------
    CellError
        If a cell raises, or states a claim that does not hold.
    """
    states = states_of(layout)
    known = states.drawings
    if (state.page, state.digest) not in known:
        drawing = Drawing()
        script = states.pages[state.page].script(layout)
        if state.shown is not None and script.is_file():
            cells = _drawn(read_cells(script))
            drawing = draw(layout, state.page, cells, state.shown, state.digest, script)
        known[state.page, state.digest] = drawing
    return known[state.page, state.digest]


def is_drawn(layout: Layout, page: str, cells: tuple[Cell, ...], digest: str) -> bool:
    """Say whether the outputs of a page's drawn cells are kept and nothing that they depend on changed.

    Parameters
    ----------
    layout, page, cells, digest
        As for `draw`.

    Returns
    -------
    bool
        False if `draw` would draw.
    """
    return _load(_folder(layout, page, cells, digest), page, states_of(layout)) is not None


def _folder(layout: Layout, page: str, cells: tuple[Cell, ...], digest: str) -> Path:
    return layout.cache / "drawn" / page / drawing_key(layout, cells, digest)[:32]


class _OtherPageWaitsError(Exception):
    """A drawn cell asks for the recording of a page whose code changed since."""


def _waits(folder: Path, page: str, states: States) -> bool:
    """Say whether a recording belongs to another page and is not that of its present code."""
    name = folder.name
    return name != page and name in states.pages and not states[name].current


@contextmanager
def _reads(page: str, states: States) -> Iterator[dict[str, str]]:
    """Collect which recordings are read meanwhile: folder -> hash of the manifest."""
    from gpuguide.recordings import store as recordings

    seen: dict[str, str] = {}
    read: Callable[..., Any] = recordings.read

    def noting(folder: Any, *args: Any, **kwargs: Any) -> Any:
        recordings.read = read  # what the states read is not what the cell reads
        try:
            recording = read(folder, *args, **kwargs)
            path = Path(recording.folder)
            if _waits(path, page, states):
                raise _OtherPageWaitsError(path.name)
        finally:
            recordings.read = noting
        seen[str(path)] = file_digest(path / "run.json")
        return recording

    recordings.read = noting
    try:
        yield seen
    finally:
        recordings.read = read


def _keep(folder: Path, drawing: Drawing, reads: Mapping[str, str]) -> None:
    from gpuguide.recordings.codec import to_json

    # One page has one set of drawings: what an earlier code or recording gave is never asked for again.
    shutil.rmtree(folder.parent, ignore_errors=True)
    save_outputs(folder, drawing.outputs, {"reads": dict(reads), "stated": to_json(drawing.stated)})


def _load(folder: Path, page: str, states: States) -> Drawing | None:
    from gpuguide.errors import RecordingError
    from gpuguide.recordings.codec import from_json

    try:
        kept = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))["extra"]
        for path, digest in kept["reads"].items():
            if file_digest(Path(path) / "run.json") != digest or _waits(Path(path), page, states):
                return None
        outputs = tuple(output or Output() for output in read_outputs(folder))
        stated = from_json(Stated, kept["stated"], str(folder))
    except (OSError, ValueError, KeyError, TypeError, RecordingError):
        return None
    return Drawing(outputs, stated)


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
    scripts = [page for page in read_pages(layout) if page.script(layout).is_file()]
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
