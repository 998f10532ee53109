"""Downloads are lessons too: each page as a complete notebook and script, each study as CSV and JSON."""

from __future__ import annotations

import ast
import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide_docs.cells import Cell, read_cells
from gpuguide_docs.files import write_if_changed
from gpuguide_docs.install_command import package_version, pip_command, wheel_path
from gpuguide_docs.layout import layout_of
from gpuguide_docs.markdown import Piece, pieces
from gpuguide_docs.notebook import notebook_text, script_text
from gpuguide_docs.on_all_cores import on_all_cores
from gpuguide_docs.page_rst import page_document
from gpuguide_docs.resolution import measured_on
from gpuguide_docs.results_table import download_stem
from gpuguide_docs.site import Site, shown_recording
from gpuguide_docs.translation import PageTranslation

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings import Recording
    from gpuguide_docs.pages import Page

__all__ = ["DOWNLOADS", "export_page", "setup", "write_downloads"]

#: Folder below ``docs`` that holds nothing else.
DOWNLOADS = Path("gallery") / "downloads"

_IMPORTS = "import matplotlib.pyplot as plt\nimport numpy as np\n\nimport gpuguide as gg"
_PRESET = {
    "facts": "from gpuguide.session import current\n\nfacts = current().facts",
    "ceilings": "ceilings = gg.machine_ceilings()",
}


def export_page(site: Site, page: Page, site_url: str = "") -> list[Piece]:
    """Turn a page into the cells of its notebook.

    Parameters
    ----------
    site : Site
        Pages, claims and recordings.
    page : Page
        With a script.
    site_url : str
        Where the guide is served.

    Returns
    -------
    list of Piece
        How to install, imports, then the page: numbers written out, kernels as code to edit.

    Raises
    ------
    ExportError
        If the page holds a role or directive that has no form in a download.
    """
    cells = [_for_download(cell) for cell in read_cells(page.script(site.layout)) if cell.kind != "comment"]
    document = page_document(cells, PageTranslation(site, page, site_url))
    intro = Piece("markdown", _introduction(site, page, site_url))
    return [intro, Piece("code", _IMPORTS), *pieces(document)]


def _for_download(cell: Cell) -> Cell:
    if cell.kind != "drawn":
        return cell
    lines = [line for line in cell.content.splitlines() if not line.strip().startswith("# draw")]
    code = "\n".join(lines).strip("\n")
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    preset = [text for name, text in _PRESET.items() if name in used]
    return Cell(cell.kind, cell.index, "\n".join([*preset, code]), cell.lineno)


def _introduction(site: Site, page: Page, site_url: str) -> str:
    address = f"{site_url.rstrip('/')}/{page.docname}.html"
    title = f"[{page.title}]({address})" if site_url else page.title
    recording = shown_recording(site.state(page.name))
    lines = [
        f"This is the page {title} of gpuguide, GPU programming in Python, measured.",
        _measured(recording),
    ]
    return "\n\n".join([*lines, _installation(page, site_url)])


def _measured(recording: Recording | None) -> str:
    if recording is None:
        return "Its code was not measured yet, so numbers are missing in the text."
    where = measured_on(recording.provenance)
    return f"The numbers in the text were measured on {where} (run {recording.run_id}). Yours will differ."


def _installation(page: Page, site_url: str) -> str:
    fetched = "" if site_url else f" fetch `{wheel_path()}` from there first."
    served = f"the package, which only the guide's own site serves:{fetched}"
    plain = _block(pip_command(site_url))
    if not page.needs.gpus:
        return f"To run it you need no GPU, only {served}\n\n{plain}"
    gpus = "an NVIDIA GPU" if page.needs.gpus == 1 else f"{page.needs.gpus} NVIDIA GPUs"
    with_gpu = _block(pip_command(site_url, "cuda13"))
    said = f"To run it you need {gpus} and {served}\n\n{with_gpu}\n\n"
    said += "Write `cuda12` for `cuda13` if `nvidia-smi` shows CUDA 12."
    if not page.exercises:
        return said
    without = "The exercise needs" if len(page.exercises) == 1 else "The exercises need"
    without += " no GPU. Where there is none, install this, and run the cells of an exercise alone:"
    return f"{said}\n\n{without}\n\n{plain}"


def _block(command: str) -> str:
    return f"```\n{command}\n```"


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
    folder, stamp = site.layout.docs / DOWNLOADS, site.layout.cache / "downloads.txt"
    # Parsing all pages takes seconds in a large guide, so nothing is done while nothing changed.
    before = stamp.read_text(encoding="utf-8").splitlines() if stamp.exists() else []
    if before[:1] == [_fingerprint(site, site_url)] and before[1:] == _digests(folder):
        return []
    files = on_all_cores([partial(_files, site, page, site_url) for page in site.pages], workers)
    wanted = {folder / name: text for held in files for name, text in held.items()}
    changed = [path for path, text in wanted.items() if write_if_changed(path, text)]
    gone = [path for path in folder.glob("*") if path not in wanted]
    for path in gone:
        path.unlink()
    write_if_changed(stamp, "\n".join([_fingerprint(site, site_url), *_digests(folder)]))
    return changed + gone


def _fingerprint(site: Site, site_url: str) -> str:
    """Give a digest of all that downloads are made from."""
    layout = site.layout
    sources = [layout.pages_toml, layout.docs / "claims.toml", *sorted(Path(__file__).parent.glob("*.py"))]
    sources += [page.script(layout) for page in site.pages]
    package = layout.source / "gpuguide"
    # Statements and hints of exercises are Markdown.
    sources += sorted([*package.rglob("*.py"), *package.rglob("*.md")])
    whole = hashlib.sha256(f"{site_url} {package_version()}".encode())
    for page in site.pages:
        whole.update(site.state(page.name).fingerprint.encode())
    for path in sources:
        whole.update(path.read_bytes() if path.exists() else b"")
    return whole.hexdigest()


def _digests(folder: Path) -> list[str]:
    files = sorted(folder.glob("*"))
    return [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]


def _files(site: Site, page: Page, site_url: str) -> dict[str, str]:
    if not page.script(site.layout).exists():
        return {}
    cells = export_page(site, page, site_url)
    files = {f"{page.name}.ipynb": notebook_text(cells, page.name), f"{page.name}.py": script_text(cells)}
    recording = shown_recording(site.state(page.name))
    for name, results in (recording.studies if recording else {}).items():
        from gpuguide.codec import dumps

        stem = Path(download_stem(page.name, name)).name
        files |= {f"{stem}.csv": results.table().csv(), f"{stem}.json": dumps(results)}
    return files


def _write(app: Sphinx) -> None:
    write_downloads(Site(layout_of(app)), app.config.gpuguide_site_url, app.parallel)


def setup(app: Sphinx) -> None:
    """Write the downloads before any page that links them is read."""
    app.setup_extension("gpuguide_docs.install_command")
    app.connect("builder-inited", _write, priority=700)
