"""Drawn cells: run where something they depend on changed, on all cores, and kept until it changes again."""

from __future__ import annotations

import functools
import gc
import hashlib
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util.parallel import parallel_available

from gpuguide.errors import RecordingError
from gpuguide.recordings import store as recordings
from gpuguide.recordings.findings import elsewhere, write_findings
from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.files import file_digest
from gpuguide_docs.pages.pages_toml import Page
from gpuguide_docs.record.execution import CellError, run_cell, value_text
from gpuguide_docs.replay.guide import Guide, PageCells
from gpuguide_docs.replay.outputs import Drawing, Output, Picture, read_kept, save_outputs
from gpuguide_docs.replay.states import PageState, States

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

    from gpuguide.recordings.recording import Recording

__all__ = [
    "draw",
    "draw_ahead",
    "drawing_key",
    "drawing_of",
    "pages_to_draw",
    "run_drawn_cell",
    "text_and_markup",
]


# Counted up when drawings are kept in another form, so that none of the old form is read.
_SCHEMA = "10"
_STATES_A_FACT = re.compile(r"\b(?:fact|explained)\(")


def run_drawn_cell(cell: Cell, cells: PageCells, script: str, guide: Guide) -> Output:
    """Run one drawn cell as the guide draws; a warning of Matplotlib or NumPy in it is an error."""
    with warnings.catch_warnings(), cells.running():
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("error", category)
        printed, value = run_cell(cell, cells.namespace, script)
        try:
            # Matplotlib reads the formulae of labels only when it saves a figure.
            pictures = _pictures(guide)
        except Exception as error:
            raise CellError(
                f"{script}:{cell.lineno}: the figure of this cell cannot be saved: "
                f"{type(error).__name__}: {str(error).strip()}"
            ) from error
        return Output(*text_and_markup(printed, value), pictures)


def text_and_markup(printed: str, value: object) -> tuple[str, str]:
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
    # plt.subplots returns an array of axes.
    elif type(value).__name__ == "ndarray" and str(getattr(value, "dtype", "")) == "object":
        flat = value.ravel()  # type: ignore[attr-defined]
    items = list(flat)
    return bool(items) and all(_is_of_matplotlib(item) for item in items)


def _pictures(guide: Guide) -> tuple[Picture, ...]:
    """Save Matplotlib's open figures, for phones too, and close them; none where it was not even imported."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return ()
    figures = [plt.figure(number) for number in plt.get_fignums()]
    try:
        pictures = tuple(map(guide.picture, figures))
        twins = map(guide.narrow, figures)
        return tuple(replace(picture, narrow=twin) for picture, twin in zip(pictures, twins, strict=True))
    finally:
        _close_figures()


def _close_figures() -> None:
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is not None:
        plt.close("all")


def drawing_key(states: States, cells: tuple[Cell, ...], digest: str) -> str:
    """Hash what the drawn outputs of a page depend on, besides other recordings that they read."""
    from gpuguide.recordings.keys import cell_digest

    code = states.drawing_code
    parts = [_SCHEMA, digest, _tools(), _contents(code, tuple(path.stat().st_mtime_ns for path in code))]
    parts += [cell_digest(cell.content) for cell in cells]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def _tools() -> str:
    # Another version of either may draw other bytes from the same code.
    return f"matplotlib {version('matplotlib')} numpy {version('numpy')}"


@functools.lru_cache(maxsize=4)
def _contents(paths: tuple[Path, ...], _stamps: tuple[int, ...]) -> str:
    # The stamps only tell the cache that a file was edited between two builds of one process.
    # The bytes, not the tokens: drawing anew after an edit of a comment costs little.
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name} {file_digest(path)}".encode())
    return whole.hexdigest()


def draw(
    states: States,
    page: str,
    cells: tuple[Cell, ...],
    recording: Recording,
    digest: str,
    script: Path,
) -> Drawing:
    """Give what a page's drawn cells come to, running them only when something they depend on changed."""
    if not cells:
        return Drawing()
    folder = _folder(states, page, cells, digest)
    kept = _load(folder, page, states)
    if kept is not None:
        return kept
    try:
        with _reads(page, states) as reads:
            shared = states.guide.page_cells(recording)
            _state_facts(cells, shared.runs, str(script))
            outputs = tuple(run_drawn_cell(cell, shared, str(script), states.guide) for cell in cells)
            stated = shared.stated()
            others = states[page].others if page in states.pages and stated.claims else ()
            stated = replace(stated, elsewhere=tuple(elsewhere(stated, other, recording) for other in others))
    except CellError as error:
        if isinstance(error.__cause__, _OtherPageWaitsError):
            # Not kept: the next build may have the other page's recording.
            return Drawing((None,) * len(cells))
        raise
    drawing = Drawing(outputs, stated)
    _keep(folder, drawing, reads)
    return drawing


def _state_facts(cells: tuple[Cell, ...], runs: Iterable[PageCells], script: str) -> None:
    """Run the cells on each run alone, up to the last that states a fact, to take facts over the starts."""
    for run in runs:
        for cell in _up_to_the_last_fact(cells):
            # An error is raised when the cell is drawn.
            with warnings.catch_warnings(), run.running(), suppress(CellError):
                warnings.simplefilter("error", RuntimeWarning)
                run_cell(cell, run.namespace, script)
            _close_figures()


def _up_to_the_last_fact(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    last = max((i for i, cell in enumerate(cells, 1) if _STATES_A_FACT.search(cell.content)), default=0)
    return tuple(cell for cell in cells[:last] if not cell.is_thumbnail)


def drawing_of(states: States, state: PageState) -> Drawing:
    """Give what a page's own drawn cells come to; nothing where its recording is not current."""
    known = states.drawings
    if (state.page, state.digest) not in known:
        drawing = Drawing()
        script = states.pages[state.page].script(states.layout)
        if state.shown is not None and script.is_file():
            cells = _drawn_cells(script)
            drawing = draw(states, state.page, cells, state.shown, state.digest, script)
            # For the package, which has no scripts; not of a page that waits for another's recording.
            if None not in drawing.outputs:
                write_findings(state.page, drawing.stated.findings, states.layout.findings)
        known[state.page, state.digest] = drawing
    return known[state.page, state.digest]


def _folder(states: States, page: str, cells: tuple[Cell, ...], digest: str) -> Path:
    return states.layout.cache / "drawn" / page / drawing_key(states, cells, digest)[:32]


class _OtherPageWaitsError(Exception):
    """A drawn cell asks for the recording of a page whose code changed since."""


def _waits(folder: Path, page: str, states: States) -> bool:
    """Say whether a recording belongs to another page and is not that of its present code."""
    name = folder.name
    return name != page and name in states.pages and not states[name].current


@contextmanager
def _reads(page: str, states: States) -> Iterator[dict[str, str]]:
    """Collect which recordings are read meanwhile: folder -> its digest."""
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
        seen[str(path)] = recordings.digest(path)
        return recording

    recordings.read = noting
    try:
        yield seen
    finally:
        recordings.read = read


def _keep(folder: Path, drawing: Drawing, reads: Mapping[str, str]) -> None:
    # One page has one set of drawings: what an earlier code or recording gave is never asked for again.
    shutil.rmtree(folder.parent, ignore_errors=True)
    # What cannot be read back is drawn by each build.
    with suppress(RecordingError):
        save_outputs(folder, drawing.outputs, reads, drawing.stated)


def _load(folder: Path, page: str, states: States) -> Drawing | None:
    """Read what was kept; an entry that is damaged is dropped."""
    if folder in states.kept:
        return states.kept[folder]
    if not folder.exists():
        return None
    try:
        outputs, reads, stated = read_kept(folder)
        for path, digest in reads:
            read = Path(path)
            if recordings.digest(read) != digest or _waits(read, page, states):
                return None
    except (OSError, RecordingError):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    states.kept[folder] = Drawing(tuple(output or Output() for output in outputs), stated)
    return states.kept[folder]


def draw_ahead(states: States, workers: int) -> Callable[[], None]:
    """Begin to draw pages whose figures are not kept, in several processes; return what waits for them."""
    pages = pages_to_draw(states)
    if workers < 2 or not pages or not parallel_available:
        return lambda: None
    # The forked processes share what is imported here.
    import matplotlib.pyplot  # noqa: F401

    fork = get_context("fork")
    n_taken = fork.Value("i", 0)
    processes = [
        fork.Process(target=_draw_pages, args=(states, pages, n_taken))
        for _ in range(min(workers, len(pages)))
    ]
    for process in processes:
        process.start()

    def wait() -> None:
        for process in processes:
            process.join()

    return wait


def pages_to_draw(states: States) -> list[tuple[Page, tuple[Cell, ...]]]:
    """Find the pages that show figures of a current recording which are not kept."""
    found = []
    for page in states.pages.values():
        script = page.script(states.layout)
        if not script.is_file() or not states[page.name].current:
            continue
        cells = _drawn_cells(script)
        folder = _folder(states, page.name, cells, states[page.name].digest)
        if cells and _load(folder, page.name, states) is None:
            found.append((page, cells))
    return sorted(found, key=lambda item: -len(item[1]))


def _drawn_cells(script: Path) -> tuple[Cell, ...]:
    return tuple(cell for cell in read_cells(script) if cell.kind == "drawn")


def _draw_pages(
    states: States, pages: list[tuple[Page, tuple[Cell, ...]]], n_taken: Synchronized[int]
) -> None:
    """Draw the next page that no other process has taken, until there is none."""
    # It would look through all that the main process holds, and so copy it into this short-lived one.
    gc.disable()
    while True:
        with n_taken.get_lock():
            place = n_taken.value
            n_taken.value += 1
        if place >= len(pages):
            return
        page, cells = pages[place]
        state = states[page.name]
        assert state.recording is not None
        # Replay meets an error again, at the page's turn, and reports it with its line.
        with suppress(CellError):
            draw(states, page.name, cells, state.recording, state.digest, page.script(states.layout))
