"""Downloads are lessons too: a page as the cells of a notebook that is complete."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from gpuguide_docs.downloads.markdown import Piece, pieces
from gpuguide_docs.downloads.translation import PageTranslation
from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.show.install_command import pip_command, wheel_path
from gpuguide_docs.show.numbers import measured_on
from gpuguide_docs.show.site import Site

if TYPE_CHECKING:
    from docutils import nodes

    from gpuguide.recordings.recording import Recording
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["export_live_page", "export_page"]

_IMPORTS = "import matplotlib.pyplot as plt\nimport numpy as np\n\nimport gpuguide as gg"
_USES_THE_PACKAGE = re.compile(r"\bgpuguide\b|\bgg\.")
_WITH_CUPY = """\
To run it you need an NVIDIA GPU and CuPy, and nothing of gpuguide:

```
pip install "cupy-cuda13x[ctk]" "cuda-toolkit<13.1"
```

If `nvidia-smi` shows CUDA 12, install `"cupy-cuda12x[ctk]"` instead. On Colab, CuPy is already installed."""
# A download has to define what the build puts into the namespace of drawn cells.
_PRESET = {
    "facts": "from gpuguide.measure.session import current\n\nfacts = current().facts",
    "arrays": (
        "from gpuguide.measure.session import current\n\n"
        "arrays = {name: kept.array() for name, kept in current().arrays.items()}"
    ),
    "ceilings": "ceilings = gg.machine_ceilings()",
}


def export_page(site: Site, page: Page, read: nodes.document, site_url: str = "") -> list[Piece]:
    """Turn a page into the cells of its notebook."""
    cells = [_for_download(cell) for cell in read_cells(page.script(site.layout))]
    document = PageTranslation(site, page.docname, site_url).translate(read, cells)
    body = pieces(document)
    if not any(_USES_THE_PACKAGE.search(each.text) for each in body if each.kind == "code"):
        # A page that does not use the package must not ask for it in its download.
        return [Piece("markdown", _introduction(site, page, _WITH_CUPY, site_url)), *body]
    intro = Piece("markdown", _introduction(site, page, _installation(page, site_url), site_url))
    return [intro, *_skipping(page), Piece("code", _IMPORTS), *body]


def _skipping(page: Page) -> list[Piece]:
    """Let a download say at its top that there is no GPU, instead of failing at every cell."""
    if not page.needs.gpus:
        return []
    names = ", ".join(f'"{name}"' for name in page.exercises)
    call = f"gpuguide.exercises.skip_without_gpu({names})"
    return [Piece("code", f"# Without a GPU: skips what needs one\nimport gpuguide.exercises\n\n{call}")]


def export_live_page(site: Site, docname: str, read: nodes.document, site_url: str = "") -> list[Piece]:
    """Turn a page whose cells ran when it was built into the cells of its notebook."""
    document = PageTranslation(site, docname, site_url).translate(read, ())
    said = "This is a page of gpuguide, GPU programming in Python, measured."
    intro = Piece("markdown", f"{said}\n\n{_without_a_gpu(site_url)}")
    return [intro, *pieces(document)]


def _for_download(cell: Cell) -> Cell:
    if cell.place != "open":
        header = f"# wrong: {cell.title}" if cell.is_wrong else f"# {cell.title}"
        return Cell(cell.kind, cell.index, f"{header}\n{cell.body}", cell.lineno)
    if cell.kind != "drawn":
        return cell
    lines = [line for line in cell.content.splitlines() if not line.strip().startswith("# draw")]
    code = "\n".join(lines).strip("\n")
    title = [f"# {cell.title}"] if cell.title else []
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    preset = [text for name, text in _PRESET.items() if name in used]
    return Cell(cell.kind, cell.index, "\n".join([*title, *preset, code]), cell.lineno)


def _introduction(site: Site, page: Page, installation: str, site_url: str = "") -> str:
    address = f"{site_url.rstrip('/')}/{page.docname}.html"
    title = f"[{page.title}]({address})" if site_url else page.title
    recording = site.state(page.name).shown
    lines = [
        f"This is the page {title} of gpuguide, GPU programming in Python, measured.",
        _measured(recording, bool(page.needs.gpus)),
    ]
    return "\n\n".join([*lines, installation])


def _measured(recording: Recording | None, needs_gpu: bool) -> str:
    if recording is None:
        return "Its code has not been measured yet, so numbers are missing in the text."
    where = measured_on(recording, gpu=needs_gpu)
    return f"The numbers in the text were measured on {where} (run {recording.name}). Yours will differ."


def _served(site_url: str) -> str:
    if site_url:
        return "the package, which only the guide's own site serves:"
    wheel = wheel_path().rpartition("/")[2]
    return f"the package. Download `{wheel}` on the guide's page *Install*. In the folder that holds it, run:"


def _without_a_gpu(site_url: str) -> str:
    return f"To run it you need no GPU, only {_served(site_url)}\n\n{_block(pip_command(site_url))}"


def _installation(page: Page, site_url: str) -> str:
    if not page.needs.gpus:
        return _without_a_gpu(site_url)
    plain, served = _block(pip_command(site_url)), _served(site_url)
    gpus = "an NVIDIA GPU" if page.needs.gpus == 1 else f"{page.needs.gpus} NVIDIA GPUs"
    with_gpu = _block(pip_command(site_url, "cuda13"))
    said = f"To run it you need {gpus} and {served}\n\n{with_gpu}\n\n"
    said += "Write `cuda12` for `cuda13` if `nvidia-smi` shows CUDA 12."
    if not page.exercises:
        return said
    without = "The exercise needs" if len(page.exercises) == 1 else "The exercises need"
    without += " no GPU. Without one, install this, and run all cells; those that need a GPU are skipped:"
    return f"{said}\n\n{without}\n\n{plain}"


def _block(command: str) -> str:
    return f"```\n{command}\n```"
