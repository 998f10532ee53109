"""Draws what changed on all cores before the pages are replayed, which then find their figures kept."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.files import file_digest
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.on_all_cores import on_all_cores
from gpuguide_docs.pages.pages_toml import Page, read_pages
from gpuguide_docs.record.execution import CellError, run_cell
from gpuguide_docs.replay.outputs import Output, read_outputs, save_outputs
from gpuguide_docs.replay.states import States, states_of

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording

__all__ = [
    "draw",
    "draw_ahead",
    "drawing_key",
    "drawing_modules",
    "is_drawn",
    "namespace_of",
    "run_drawn",
    "undrawn",
]


_SCHEMA = "1"
#: The rooms that what a drawn cell shows may depend on.
_ROOMS = ("results", "charts", "recordings")


def namespace_of(recording: Recording) -> dict[str, Any]:
    """Give what a drawn cell finds: ``gg``, ``plt``, ``np``, the page's results, its facts and ceilings.

    Parameters
    ----------
    recording : Recording
        Of the page.

    Returns
    -------
    dict
        A new namespace; the results stand under the names that the page gave them.
    """
    named = {variable: recording.studies[study] for variable, study in recording.names.items()}
    return preset_namespace(named, recording.facts, recording.ceilings)


def preset_namespace(
    results: Mapping[str, Any], facts: Mapping[str, Any], ceilings: object
) -> dict[str, Any]:
    """Give the namespace of a drawn cell from its parts, as the recorder has them.

    Parameters
    ----------
    results : mapping
        Variable -> Results.
    facts : mapping
        Name -> Fact.
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
        "facts": dict(facts),
        "ceilings": ceilings,
        **results,
    }


def run_drawn(cell: Cell, namespace: dict[str, Any], script: str) -> Output:
    """Run one drawn cell in the guide's style; a warning of Matplotlib or NumPy in it is an error.

    Parameters
    ----------
    cell : Cell
        A drawn cell.
    namespace : dict
        From `namespace_of`; changed by the cell.
    script : str
        File that messages name.

    Returns
    -------
    Output
        What is shown under the cell.

    Raises
    ------
    CellError
        Names file, line and error.
    """
    from gpuguide.charts.style import style

    with warnings.catch_warnings(), style():
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("error", category)
        return run_cell(cell, namespace, script)


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
    return tuple(sorted(path for room in _ROOMS for path in (package / room).rglob("*.py")))


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
) -> tuple[Output | None, ...]:
    """Give the outputs of a page's drawn cells, drawing them only when something they depend on changed.

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
    tuple of Output or None
        One a cell; None when the cells read the recording of another page that waits to be measured.

    Raises
    ------
    CellError
        If a cell raises.
    """
    if not cells:
        return ()
    states = states_of(layout)
    folder = _folder(layout, page, cells, digest)
    kept = _load(folder, page, states)
    if kept is not None:
        return kept
    try:
        with _reads(page, states) as reads:
            namespace = namespace_of(recording)
            outputs = tuple(run_drawn(cell, namespace, str(script)) for cell in cells)
    except CellError as error:
        if isinstance(error.__cause__, _OtherPageWaitsError):
            return (None,) * len(cells)
        raise
    _keep(folder, outputs, reads)
    return outputs


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


def _keep(folder: Path, outputs: tuple[Output, ...], reads: Mapping[str, str]) -> None:
    # One page has one set of drawings: what an earlier code or recording gave is never asked for again.
    shutil.rmtree(folder.parent, ignore_errors=True)
    save_outputs(folder, outputs, reads)


def _load(folder: Path, page: str, states: States) -> tuple[Output, ...] | None:
    try:
        reads = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))["extra"]
        for path, digest in reads.items():
            if file_digest(Path(path) / "run.json") != digest or _waits(Path(path), page, states):
                return None
        return tuple(output or Output() for output in read_outputs(folder))
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
