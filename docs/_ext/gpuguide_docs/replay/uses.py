"""Documents that show something of a page are read again when that changes.

The state of each page stands in a file, which Sphinx knows as a dependency of these documents: a note of our
own in its environment would be lost wherever another process read the document.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.builders.html import StandaloneHTMLBuilder

from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.replay.drawn_cells import drawing_of
from gpuguide_docs.replay.states import States, states_of_build

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["note_use", "setup", "write_states"]


def note_use(env: BuildEnvironment, layout: Layout, page: str) -> None:
    """Note that the document being read shows something of a page."""
    env.note_dependency(_folder(layout) / f"{page}.txt")


def write_states(states: States) -> None:
    """Write down what a document depends on that shows a number or a claim of a page."""
    folder = _folder(states.layout)
    files = {folder / f"{page}.txt": states[page] for page in states.pages}
    for path, state in files.items():
        write_if_changed(path, f"{state.fingerprint} {drawing_of(states, state).fingerprint}")
    # Without its file, a document that shows something of a deleted page is read again, and fails.
    for path in set(folder.iterdir()) - files.keys():
        path.unlink()


def _folder(layout: Layout) -> Path:
    return layout.cache / "states"


def _write(app: Sphinx) -> None:
    if not app.config.gpuguide_draft:
        write_states(states_of_build(app))


def _not_written(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages that an earlier build read and did not write, as ``make html PAGE=name`` does.

    Sphinx compares a page only with its source. If a page was read again for another reason, for example a
    kernel that it shows, the next build would not notice.
    """
    if not isinstance(app.builder, StandaloneHTMLBuilder):
        return []
    written = {name: Path(app.builder.get_outfilename(name)) for name in env.all_docs}
    return [
        name
        for name, path in written.items()
        # Sphinx notes when it read a document in microseconds.
        if path.exists() and path.stat().st_mtime_ns // 1000 < env.all_docs[name]
    ]


def setup(app: Sphinx) -> None:
    """Write the states once the gallery is generated, which names the place of a drawn cell that fails."""
    app.connect("builder-inited", _write, priority=900)
    app.connect("env-updated", _not_written)
