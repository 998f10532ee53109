"""Writes the downloads: each page as notebook and script, each study as CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx_design.dropdown import dropdown_main

from gpuguide_docs.downloads.exporter import export_live_page, export_page
from gpuguide_docs.downloads.markdown import ExportError, Piece
from gpuguide_docs.downloads.notebook import notebook_text, script_text
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.show.site import site_of
from gpuguide_docs.show.study import download_stem

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.show.site import Site

__all__ = ["DOWNLOADS", "setup"]

#: Folder below ``docs`` that holds nothing else.
DOWNLOADS = Path("gallery") / "downloads"
_LOGGER = logging.getLogger(__name__)


def _read(app: Sphinx, document: nodes.document) -> None:
    """Write what a document that was just read offers; a file whose content stays keeps its date."""
    site, docname = site_of(app.env), app.env.docname
    tables = [node for node in document.findall(dropdown_main) if "study" in node]
    files = {name for node in tables for name in _data_names(node["page"], node["study"])}
    page = site.page_of(docname)
    own = _names(site, page) if page else set()
    files |= own
    owners = {node["page"] for node in tables} | ({page.name} if page else set())
    shown = (owner for owner in site.pages if owner.name in owners)
    texts = {name: text for owner in shown for name, text in _data(site, owner, files).items()}
    if page and own:
        cells = _exported(app, partial(export_page, site, page, document))
        if cells:
            texts |= {
                f"{page.name}.ipynb": notebook_text(cells, page.name),
                f"{page.name}.py": script_text(cells),
            }
    offered = _live_notebook(docname)
    # A page of the gallery links a notebook of such a name, too, and has written it above.
    if not own and any(
        node["reftarget"] == f"/{offered}" for node in document.findall(addnodes.download_reference)
    ):
        cells = _exported(app, partial(export_live_page, site, docname, document))
        texts |= {offered.name: notebook_text(cells, offered.stem)} if cells else {}
    for name, text in texts.items():
        write_if_changed(site.layout.docs / DOWNLOADS / name, text)


def _exported(app: Sphinx, export: Callable[[str], list[Piece]]) -> list[Piece]:
    try:
        return export(app.config.gpuguide_site_url)
    except ExportError as error:
        # Without this a page that failed would count as read, and the next build would pass.
        app.env.note_reread()
        _LOGGER.warning("no notebook of this page: %s", error, location=app.env.docname)
        return []


def _live_notebook(docname: str) -> PurePosixPath:
    """Give the notebook that a page with live cells may link, and is then written."""
    return PurePosixPath(DOWNLOADS.as_posix(), f"{PurePosixPath(docname).name}.ipynb")


def _data(site: Site, page: Page, wanted: set[str]) -> dict[str, str]:
    """Give those files of a page's studies that are wanted."""
    from gpuguide.recordings.plain import dumps

    recording = site.state(page.name).shown if page.format == "script" else None
    texts: dict[str, str] = {}
    for study, results in (recording.studies if recording else {}).items():
        csv, json = _data_names(page.name, study)
        if csv in wanted:
            texts |= {csv: results.table().csv(), json: dumps(results)}
    return texts


def _names(site: Site, page: Page) -> set[str]:
    """Name the files of a page."""
    if page.format != "script" or not page.script(site.layout).exists():
        return set()
    recording = site.state(page.name).shown
    data = (_data_names(page.name, study) for study in (recording.studies if recording else ()))
    return {f"{page.name}.ipynb", f"{page.name}.py"}.union(*data)


def _data_names(page: str, study: str) -> tuple[str, str]:
    stem = Path(download_stem(page, study)).name
    return f"{stem}.csv", f"{stem}.json"


def _sweep(app: Sphinx, env: BuildEnvironment) -> None:
    """Delete the files that no page accounts for."""
    site = site_of(env)
    known = set[str]().union(*(_names(site, page) for page in site.pages))
    linked = {str(name) for name in env.dlfiles}
    known |= {name.name for name in map(_live_notebook, env.found_docs) if str(name) in linked}
    for path in (app.srcdir / DOWNLOADS).glob("*"):
        if path.name not in known:
            path.unlink()


def setup(app: Sphinx) -> None:
    """Write a page's downloads as soon as it is read, before Sphinx looks for the files that it links.

    Sphinx reads a page again when such a file is gone.
    """
    app.setup_extension("gpuguide_docs.show.install_command")
    app.connect("doctree-read", _read, priority=100)
    app.connect("env-updated", _sweep)
