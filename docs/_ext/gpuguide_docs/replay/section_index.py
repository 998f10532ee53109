"""The gallery's indexes: each section's pages in teaching order, scripts and pages written by hand alike."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.gallery_settings import GALLERY
from gpuguide_docs.pages.layout import Layout, layout_of
from gpuguide_docs.pages.pages_toml import Page, Section, read_pages, read_sections

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx.application import Sphinx

__all__ = ["index_files", "listed_sections", "setup"]

_ROOT = """\
:orphan:

Learn
=====

Every page in teaching order. What was measured, was measured on a real GPU.

"""
# sphinx-gallery's own markup, so that its style sheet holds for both kinds of tile.
_TILE = """\
.. raw:: html

   <div class="sphx-glr-thumbcontainer"{question}>{words}

.. only:: html

{picture}   :doc:`/{docname}`

.. raw:: html

   <div class="sphx-glr-thumbnail-title">{title}</div></div>

"""
_PICTURE = "   .. image:: /{path}\n      :alt:\n\n"


def listed_sections(layout: Layout) -> list[tuple[Section, list[Page]]]:
    """Give the sections that have pages, each with those whose text exists.

    Parameters
    ----------
    layout : Layout
        Where the project lies.

    Returns
    -------
    list of (Section, list of Page)
        Both in teaching order.
    """
    pages = [page for page in read_pages(layout) if page.source(layout).is_file()]
    sections = [
        (section, [page for page in pages if page.section == section.name])
        for section in read_sections(layout)
    ]
    return [(section, held) for section, held in sections if held]


def index_files(layout: Layout) -> dict[Path, str]:
    """Write out the index of the gallery and of each section.

    Parameters
    ----------
    layout : Layout
        Where the project lies; thumbnails of its scripts are there already.

    Returns
    -------
    dict of pathlib.Path to str
        File -> reST.
    """
    listed = listed_sections(layout)
    files = {
        layout.gallery / section.name / "index.rst": _section_index(layout, section, pages)
        for section, pages in listed
    }
    parts = [_part(layout, section, pages, "-") for section, pages in listed]
    entries = [f"/{GALLERY}/{section.name}/index" for section, _ in listed]
    files[layout.gallery / "index.rst"] = _ROOT + "".join(parts) + _toctree(entries)
    return files


def _section_index(layout: Layout, section: Section, pages: list[Page]) -> str:
    label = f".. _sphx_glr_{GALLERY}_{section.name}:\n\n"
    # A page of the top bar has its place there; in two tables of contents it would have no certain one.
    held = [f"/{page.docname}" for page in pages if not page.top_bar]
    return label + _part(layout, section, pages, "=") + _toctree(held)


def _part(layout: Layout, section: Section, pages: list[Page], underline: str) -> str:
    head = f"{section.title}\n{underline * 2 * len(section.title)}\n\n{section.summary}\n\n"
    begin, end = '<div class="sphx-glr-thumbnails">', "</div>"
    tiles = "".join(_tile(layout, page) for page in pages)
    return f"{head}.. raw:: html\n\n   {begin}\n\n{tiles}.. raw:: html\n\n   {end}\n\n"


def _tile(layout: Layout, page: Page) -> str:
    shown = {"title": escape(page.title), "docname": page.docname}
    if page.format == "myst":
        # It has no chart, so its question stands in the picture's place.
        words = f'<div class="gg-tile-question">{escape(page.question)}</div>'
        return _TILE.format(**shown, question="", words=words, picture="")
    folder = layout.gallery / page.section / "images" / "thumb"
    (thumbnail,) = folder.glob(f"sphx_glr_{page.name}_thumb.*")
    picture = _PICTURE.format(path=thumbnail.relative_to(layout.docs).as_posix())
    return _TILE.format(**shown, question=f' tooltip="{escape(page.question)}"', words="", picture=picture)


def _toctree(entries: list[str]) -> str:
    lines = "".join(f"   {entry}\n" for entry in entries)
    return f".. toctree::\n   :hidden:\n   :includehidden:\n\n{lines}" if entries else ""


def _write(app: Sphinx) -> None:
    for path, text in index_files(layout_of(app)).items():
        write_if_changed(path, text)


def setup(app: Sphinx) -> None:
    """Write the indexes once sphinx-gallery has generated the pages and their thumbnails."""
    app.connect("builder-inited", _write, priority=600)
