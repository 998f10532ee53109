"""Writes the downloads: each page as notebook and script, each study as CSV and JSON."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide.version import __version__
from gpuguide_docs.downloads.exporter import export_page
from gpuguide_docs.downloads.notebook import notebook_text, script_text
from gpuguide_docs.pages.files import file_digest, write_if_changed
from gpuguide_docs.pages.layout import Layout, layout_of
from gpuguide_docs.pages.on_all_cores import on_all_cores
from gpuguide_docs.show.results_table import download_stem
from gpuguide_docs.show.site import Site

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["DOWNLOADS", "setup", "write_downloads"]

#: Folder below ``docs`` that holds nothing else.
DOWNLOADS = Path("gallery") / "downloads"


def write_downloads(site: Site, site_url: str = "", workers: int = 1) -> list[Path]:
    """Write all downloads; a file whose content stays keeps its date, one that nothing accounts for goes.

    Parameters
    ----------
    site : Site
        Pages and recordings.
    site_url : str
        Where the guide is served.
    workers : int
        How many pages are translated at once.

    Returns
    -------
    list of Path
        The files that were written or deleted.
    """
    folder, stamp = site.layout.docs / DOWNLOADS, site.layout.cache / "downloads.json"
    sources = _fingerprints(site, site_url)
    # Parsing a page takes a tenth of a second, so only those are that changed.
    known = _kept(stamp, folder, sources)
    waiting = [page for page in site.pages if page.name not in known]
    texts = on_all_cores([partial(_files, site, page, site_url) for page in waiting], workers)
    files = {page: set(held["files"]) for page, held in known.items()}
    files |= {page.name: set(written) for page, written in zip(waiting, texts, strict=True)}
    named = [(folder / name, text) for written in texts for name, text in written.items()]
    changed = [path for path, text in named if write_if_changed(path, text)]
    gone = _sweep(folder, set().union(*files.values()))
    digests = {page: {name: file_digest(folder / name) for name in names} for page, names in files.items()}
    held = {page: {"sources": sources[page], "files": digests[page]} for page in files}
    write_if_changed(stamp, json.dumps(held, indent=1, sort_keys=True))
    return changed + gone


def _sweep(folder: Path, names: set[str]) -> list[Path]:
    """Delete what is not among these names."""
    gone = [path for path in folder.glob("*") if path.name not in names]
    for path in gone:
        path.unlink()
    return gone


def _kept(stamp: Path, folder: Path, sources: dict[str, str]) -> dict[str, dict[str, dict[str, str]]]:
    """Give the pages whose sources are those of the last writing and whose files are as they were written."""
    try:
        before = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {
        page: held
        for page, held in before.items()
        if held["sources"] == sources.get(page)
        and all(file_digest(folder / name) == digest for name, digest in held["files"].items())
    }


def _fingerprints(site: Site, site_url: str) -> dict[str, str]:
    """Give, for each page, a digest of all that its downloads are made from."""
    common = _common(site, site_url)
    scripts = {page.name: page.script(site.layout) for page in site.pages}
    return {
        name: hashlib.sha256(f"{common} {file_digest(path)}".encode()).hexdigest()
        for name, path in scripts.items()
    }


def _common(site: Site, site_url: str) -> str:
    """Give a digest of what the downloads of any page may hold: they quote one another's numbers."""
    whole = hashlib.sha256(f"{site_url} {__version__}".encode())
    for page in site.pages:
        state = site.state(page.name)
        whole.update(f"{state.fingerprint} {site.drawing(state).fingerprint}".encode())
    for path in _sources(site.layout):
        whole.update(file_digest(path).encode())
    return whole.hexdigest()


def _sources(layout: Layout) -> list[Path]:
    package = layout.source / "gpuguide"
    lists = [layout.pages_toml, layout.docs / "claims.toml"]
    # Statements and hints of exercises are Markdown.
    return [
        *lists,
        *sorted(Path(__file__).parents[1].rglob("*.py")),
        *sorted(package.rglob("*.py")),
        *sorted(package.rglob("*.md")),
    ]


def _files(site: Site, page: Page, site_url: str) -> dict[str, str]:
    if not page.script(site.layout).exists():
        return {}
    cells = export_page(site, page, site_url)
    files = {f"{page.name}.ipynb": notebook_text(cells, page.name), f"{page.name}.py": script_text(cells)}
    recording = site.state(page.name).shown
    for name, results in (recording.studies if recording else {}).items():
        from gpuguide.recordings.codec import dumps

        stem = Path(download_stem(page.name, name)).name
        files |= {f"{stem}.csv": results.table().csv(), f"{stem}.json": dumps(results)}
    return files


def _write(app: Sphinx) -> None:
    write_downloads(Site(layout_of(app)), app.config.gpuguide_site_url, app.parallel)


def setup(app: Sphinx) -> None:
    """Write the downloads before any page that links them is read."""
    app.setup_extension("gpuguide_docs.show.install_command")
    app.connect("builder-inited", _write, priority=700)
