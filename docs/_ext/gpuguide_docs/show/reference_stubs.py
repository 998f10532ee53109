"""The reference's pages: autosummary writes them when the package or the reference's list changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide_docs.pages.files import file_digest, write_if_changed
from gpuguide_docs.pages.layout import Layout, layout_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["changed_reference", "sweep_stubs", "write_stubs"]


def sweep_stubs(layout: Layout) -> list[Path]:
    """Delete reference pages that were generated for what the reference no longer lists.

    Parameters
    ----------
    layout : Layout
        Where the project lies.

    Returns
    -------
    list of pathlib.Path
        What was deleted.
    """
    index = _index(layout)
    text = index.read_text(encoding="utf-8") if index.is_file() else ""
    listed = {line.strip() for line in text.splitlines()}
    old = [stub for stub in _stubs(layout) if stub.stem.removeprefix("gpuguide.") not in listed]
    for stub in old:
        stub.unlink()
    return old


def changed_reference(layout: Layout) -> bool:
    """Tell whether what the reference's pages are written from, or which of them there are, changed.

    Parameters
    ----------
    layout : Layout
        Where the project lies.

    Returns
    -------
    bool
        Whether they are to be written.
    """
    stamp = _stamp(layout)
    return not stamp.is_file() or stamp.read_text(encoding="utf-8") != _digest(layout)


def write_stubs(app: Sphinx) -> None:
    """Have autosummary write the pages, unless all is as at the last writing.

    Parameters
    ----------
    app : Sphinx
        The application; ``autosummary_generate`` is False in its configuration.
    """
    layout = layout_of(app)
    sweep_stubs(layout)
    # autosummary imports the whole package, Numba with it: a second that an unchanged build need not pay.
    if not _index(layout).is_file() or not changed_reference(layout):
        return
    from sphinx.ext.autosummary.generate import generate_autosummary_docs

    generate_autosummary_docs([str(_index(layout))], base_path=app.srcdir, app=app)
    write_if_changed(_stamp(layout), _digest(layout))


def _index(layout: Layout) -> Path:
    return layout.docs / "api" / "index.rst"


def _stubs(layout: Layout) -> list[Path]:
    return sorted((layout.docs / "api" / "generated").glob("gpuguide.*.rst"))


def _stamp(layout: Layout) -> Path:
    return layout.cache / "reference.txt"


def _digest(layout: Layout) -> str:
    whole = hashlib.sha256()
    sources = [_index(layout), *sorted((layout.docs / "_templates").rglob("*.rst")), *_stubs(layout)]
    for path in [*sources, *sorted((layout.source / "gpuguide").rglob("*.py"))]:
        whole.update(f"{path.relative_to(layout.root).as_posix()} {file_digest(path)}\n".encode())
    return whole.hexdigest()
