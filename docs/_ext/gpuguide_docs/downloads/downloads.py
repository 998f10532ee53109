"""Writes the downloads: each page as notebook and script, each study as CSV and JSON."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sphinx import addnodes
from sphinx.util import logging
from sphinx_design.dropdown import dropdown_main

from gpuguide.errors import GpuGuideError
from gpuguide_docs.downloads.cells import live_page_cells, page_cells
from gpuguide_docs.downloads.notebook import notebook_text, script_text
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.show.site import site_of
from gpuguide_docs.show.study import download_stem

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide_docs.show.site import Site

__all__ = ["DOWNLOADS", "setup"]

#: Folder below ``docs`` that holds nothing else.
DOWNLOADS = Path("gallery") / "downloads"
_LOGGER = logging.getLogger(__name__)


def _read(app: Sphinx, document: nodes.document) -> None:
    """Write what a document that was just read offers; a file whose content stays keeps its date."""
    site = site_of(app.env)
    texts: dict[str, str] = {}
    for table in document.findall(dropdown_main):
        if "study" in table:
            texts |= _data(site, table["page"], table["study"])
    try:
        texts |= _lesson(app, site, document)
    except (GpuGuideError, LookupError, SyntaxError, ValueError) as error:
        # The page itself says more. If it counted as read, the next build would pass.
        app.env.note_reread()
        _LOGGER.warning("no notebook of this page: %r", error, location=app.env.docname)
    for name, text in texts.items():
        write_if_changed(site.layout.docs / DOWNLOADS / name, text)


def _lesson(app: Sphinx, site: Site, document: nodes.document) -> dict[str, str]:
    """Give notebook and script of a page; one that is written by hand has a notebook if it links it."""
    docname, url = app.env.docname, app.config.gpuguide_site_url
    page = site.page_of(docname)
    if page and page.format == "script" and page.script(site.layout).exists():
        cells = page_cells(site, page, url, solutions=app.config.gpuguide_solutions)
        return {
            f"{page.name}.ipynb": notebook_text(cells, page.name, gpu=bool(page.needs.gpus)),
            f"{page.name}.py": script_text(cells),
        }
    name = PurePosixPath(docname).name
    link = f"/{(DOWNLOADS / name).as_posix()}.ipynb"
    if any(node["reftarget"] == link for node in document.findall(addnodes.download_reference)):
        return {f"{name}.ipynb": notebook_text(live_page_cells(site, docname, url), name)}
    return {}


def _data(site: Site, page: str, study: str) -> dict[str, str]:
    from gpuguide.recordings.plain import dumps

    recording = site.state(page).shown
    if recording is None:
        return {}
    results, stem = recording.studies[study], Path(download_stem(page, study)).name
    return {f"{stem}.csv": results.table().csv(), f"{stem}.json": dumps(results)}


def _sweep(app: Sphinx, env: BuildEnvironment) -> None:
    """Delete the files that no page links."""
    linked = {str(name) for name in env.dlfiles}
    for path in (app.srcdir / DOWNLOADS).glob("*"):
        if str(DOWNLOADS / path.name) not in linked:
            path.unlink()


def _pack(app: Sphinx, error: Exception | None) -> None:
    """Pack all notebooks into one file and all drawings into another, each with the licence."""
    if error or app.builder.name != "html":
        return
    layout = site_of(app.env).layout
    notebooks = {
        page.notebook: app.srcdir / DOWNLOADS / f"{page.name}.ipynb"
        for page in site_of(app.env).pages
        if page.format == "script"
    }
    drawings = {path.name: path for path in sorted(layout.docs.glob("_static/drawings/*.svg"))}
    for name, files in (("notebooks", notebooks), ("drawings", drawings)):
        with ZipFile(app.outdir / "_static" / f"{name}.zip", "w", ZIP_DEFLATED) as packed:
            for inside, path in {"LICENSE": layout.root / "LICENSE", **files}.items():
                if path.is_file():
                    # The entry has a date of its own, so that two builds write the same bytes.
                    packed.writestr(ZipInfo(inside), path.read_bytes(), ZIP_DEFLATED)


def setup(app: Sphinx) -> None:
    """Write a page's downloads as soon as it is read, before Sphinx looks for the files that it links.

    Sphinx reads a page again when such a file is gone.
    """
    app.connect("doctree-read", _read, priority=100)
    app.connect("env-updated", _sweep)
    app.connect("build-finished", _pack)
