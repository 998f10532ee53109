"""The chart in a page's card: how its headline numbers moved over the runs of its recording."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

from gpuguide.recordings.history import history
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.layout import Layout, layout_of
from gpuguide_docs.pages.on_all_cores import begin
from gpuguide_docs.replay.drawn_cells import drawing_key
from gpuguide_docs.show.guide import states_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.history import History

__all__ = ["draw_histories", "history_node", "setup", "words_file"]

_THEMES = ("light", "dark")


def history_node(layout: Layout, recording: Recording) -> list[nodes.Node]:
    """Show the chart that `draw_histories` has drawn, in both themes; nothing where there is one run."""
    moved = history(recording)
    if not moved.moved:
        return []
    images = []
    for theme, path in _files(layout, recording.page).items():
        uri = "/" + path.relative_to(layout.docs).as_posix()
        images.append(
            nodes.image(uri=uri, alt=moved.in_words(), classes=["recorded-figure", f"only-{theme}"])
        )
    which = {1: "a number", 2: "two numbers", 3: "three numbers"}[len(moved.numbers)]
    moving = f"How {which} of this page moved from run to run, in per cent of the median:"
    lead = nodes.paragraph("", moving)
    return [lead, nodes.container("", *images, classes=["gg-chart"])]


def draw_histories(layout: Layout, workers: int = 1) -> Callable[[], list[str]]:
    """Begin to draw the histories of all pages that were recorded more than once.

    Parameters
    ----------
    layout : Layout
        Where the project lies.
    workers : int
        How many charts at once.

    Returns
    -------
    callable
        Waits for the charts, and returns the names of the pages whose chart was drawn: those whose recording,
        or the code that draws, changed. The picture of a page that has no history any more is deleted.
    """
    states, known, to_draw = states_of(layout), set(), []
    for name in states.pages:
        recording = states[name].shown
        moved = history(recording) if recording else None
        if moved is None:
            continue
        # Also without a history: Sphinx reads a page in each build when a file is missing that it depends on.
        known.add(words_file(layout, name))
        write_if_changed(words_file(layout, name), moved.in_words() if moved.moved else "")
        if not moved.moved:
            continue
        known |= {*_files(layout, name).values(), _note(layout, name)}
        key = drawing_key(states, (), states[name].digest)
        if not _is_drawn(layout, name, key):
            to_draw.append((name, partial(_draw, layout, name, moved, key)))
    for folder in (_folder(layout), layout.cache / "history"):
        for path in set(folder.glob("*")) - known:
            path.unlink()
    wait = begin(to_draw, workers, lambda pages: [(draw(), name)[1] for name, draw in pages])
    return lambda: [name for names in wait() for name in names]


def words_file(layout: Layout, page: str) -> Path:
    """Give the file of the alternative text, on which the page depends as it does on the picture."""
    return _folder(layout) / f"{page}.txt"


def _folder(layout: Layout) -> Path:
    return layout.docs / "_generated" / "history"


def _files(layout: Layout, page: str) -> dict[str, Path]:
    return {theme: _folder(layout) / f"{page}-{theme}.svg" for theme in _THEMES}


def _note(layout: Layout, page: str) -> Path:
    """Give the file that says what the pictures were drawn from."""
    return layout.cache / "history" / f"{page}.txt"


def _noted(key: str, pictures: list[bytes]) -> str:
    return "\n".join([key, *(hashlib.sha256(data).hexdigest() for data in pictures)])


def _is_drawn(layout: Layout, page: str, key: str) -> bool:
    try:
        pictures = [path.read_bytes() for path in _files(layout, page).values()]
        return _note(layout, page).read_text(encoding="utf-8") == _noted(key, pictures)
    except OSError:
        return False


def _draw(layout: Layout, page: str, moved: History, key: str) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from gpuguide.charts.history import plot_history
    from gpuguide.charts.style import save_svg, to_dark

    figure = plot_history(moved)[0].get_figure(root=True)
    assert figure is not None
    light = save_svg(figure)
    plt.close(figure)
    pictures = [light, to_dark(light.decode()).encode()]
    for path, data in zip(_files(layout, page).values(), pictures, strict=True):
        write_if_changed(path, data)
    write_if_changed(_note(layout, page), _noted(key, pictures))


def _begin(app: Sphinx) -> None:
    if not app.config.gpuguide_draft:
        app.gpuguide_histories = draw_histories(layout_of(app), app.parallel)  # type: ignore[attr-defined]


def _wait(app: Sphinx) -> None:
    if not app.config.gpuguide_draft:
        app.gpuguide_histories()  # type: ignore[attr-defined]


def setup(app: Sphinx) -> None:
    """Draw while the gallery (500) is generated; Sphinx reads a page again whose picture changed."""
    app.connect("builder-inited", _begin, priority=495)
    app.connect("builder-inited", _wait, priority=910)
