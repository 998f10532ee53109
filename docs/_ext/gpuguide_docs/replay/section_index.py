"""The gallery's indexes: each section's pages in teaching order, scripts and pages written by hand alike."""

from __future__ import annotations

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

Every page, in teaching order. A tile says what to do, how long the page takes, and for whom it is.

"""


def listed_sections(layout: Layout) -> list[tuple[Section, list[Page]]]:
    """Give the sections that have pages, each with those whose text exists."""
    pages = [page for page in read_pages(layout) if page.source(layout).is_file()]
    sections = [
        (section, [page for page in pages if page.section == section.name])
        for section in read_sections(layout)
    ]
    return [(section, held) for section, held in sections if held]


def index_files(layout: Layout) -> dict[Path, str]:
    """Write out the index of the gallery and of each section."""
    listed = listed_sections(layout)
    files = {
        layout.gallery / section.name / "index.rst": _section_index(section, pages)
        for section, pages in listed
    }
    parts = [_part(section, pages, "-") for section, pages in listed]
    entries = [f"/{GALLERY}/{section.name}/index" for section, _ in listed]
    entries += ["/glossary"] if (layout.docs / "glossary.md").is_file() else []
    files[layout.gallery / "index.rst"] = _ROOT + "".join(parts) + _toctree(entries)
    return files


def _section_index(section: Section, pages: list[Page]) -> str:
    label = f".. _sphx_glr_{GALLERY}_{section.name}:\n\n"
    # A page of the top bar has its place there; in two tables of contents it would have no certain one.
    held = [f"/{page.docname}" for page in pages if not page.top_bar]
    return label + _part(section, pages, "=") + _toctree(held)


def _part(section: Section, pages: list[Page], underline: str) -> str:
    head = f"{section.title}\n{underline * 2 * len(section.title)}\n\n{section.summary}\n\n"
    return f"{head}.. page-tiles::\n\n" + "".join(f"   {page.name}\n" for page in pages) + "\n"


def _toctree(entries: list[str]) -> str:
    lines = "".join(f"   {entry}\n" for entry in entries)
    return f".. toctree::\n   :hidden:\n   :includehidden:\n\n{lines}" if entries else ""


def _write(app: Sphinx) -> None:
    for path, text in index_files(layout_of(app)).items():
        write_if_changed(path, text)


def setup(app: Sphinx) -> None:
    """Write the indexes once sphinx-gallery has generated the pages and their thumbnails."""
    app.connect("builder-inited", _write, priority=600)
