"""A draft of a page without a GPU (``make preview PAGE=name``): run at toy size in the simulator.

Everything is written below ``.preview``, stamped "draft, simulator"; nothing below ``recorded``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, PagesError
from gpuguide_docs.record.execution import CellError, refuse_figures, run_cell
from gpuguide_docs.record.recorder import chosen_pages
from gpuguide_docs.replay.drawn_cells import run_drawn_cell, text_and_markup
from gpuguide_docs.replay.outputs import Output, Picture, save_outputs
from gpuguide_docs.show.guide import GpuGuide, GpuGuideCells

__all__ = ["NEEDS_GPU", "main", "run_draft", "stamp"]

NEEDS_GPU = "needs a GPU"
_STAMP = "draft, simulator"
_VIEW_BOX = re.compile(rb'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_GPU_MODULES = ("cupy", "cupyx", "pynvml")

_CONF = """\
from pathlib import Path

from gpuguide_docs.pages.gallery_settings import gallery_conf
from gpuguide_docs.pages.layout import Layout

ROOT = Path(__file__).resolve().parent
project = "draft"
extensions = ["sphinx_gallery.gen_gallery", "sphinx_design", "gpuguide_docs.extension"]
sphinx_gallery_conf = gallery_conf(Layout(ROOT))
gpuguide_draft = str(ROOT / "outputs")
exclude_patterns = ["gallery/**/*.py", "gallery/**/*.ipynb", "gallery/downloads"]
html_theme = "pydata_sphinx_theme"
html_static_path = {static!r}
html_css_files = ["gpuguide.css"]
html_js_files = ["gpuguide.js"]
html_copy_source = False
# The glossary and the other pages are not part of the draft.
suppress_warnings = ["ref.term", "ref.doc"]
"""

_INDEX = "Draft\n=====\n\n.. toctree::\n\n   gallery/index\n   gallery/{section}/index\n"


def stamp(picture: Picture) -> Picture:
    """Hatch a figure and write "draft, simulator" over it, so that none is taken for a measurement.

    Parameters
    ----------
    picture : Picture
        A drawing.

    Returns
    -------
    Picture
        The stamped figure, and its form for phones.
    """
    narrow = _stamped(picture.narrow) if picture.narrow else b""
    return Picture(_stamped(picture.data), f"Draft, simulator. {picture.alt}", narrow)


def _stamped(svg: bytes) -> bytes:
    size = _VIEW_BOX.search(svg)
    width, height = (float(number) for number in size.groups()) if size else (500.0, 300.0)
    over = (
        '<defs><pattern id="draft-hatch" width="12" height="12" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><path d="M0 0V12" stroke="#c0282d" stroke-width="3" '
        'stroke-opacity="0.25"/></pattern></defs>'
        f'<rect width="{width:g}" height="{height:g}" fill="url(#draft-hatch)"/>'
        f'<text x="{width / 2:g}" y="{height / 2:g}" text-anchor="middle" font-family="sans-serif" '
        f'font-size="{width / 12:g}" fill="#c0282d" fill-opacity="0.8">{_STAMP}</text></svg>'
    )
    head, _, _ = svg.rpartition(b"</svg>")
    return head + over.encode() + b"\n"


def run_draft(script: Path) -> tuple[list[Output | None], list[str]]:
    """Run a page's cells in this process, which has the simulator on.

    Parameters
    ----------
    script : pathlib.Path
        The page.

    Returns
    -------
    list of Output or None
        One for each block; a cell that fails because CuPy is missing says that it needs a GPU.
    list of str
        Errors of cells that fail for another reason.
    """
    _cut_sizes()
    namespace: dict[str, Any] = {"__name__": "__main__", "__doc__": ""}
    outputs: list[Output | None] = []
    errors: list[str] = []
    lacking = False
    drawn = GpuGuideCells({}, {}, None, quick=True)
    for cell in read_cells(script):
        if cell.kind in ("text", "comment"):
            outputs.append(None)
            continue
        try:
            output = _run(cell, namespace, str(script), drawn)
        except CellError as error:
            lacking = lacking or _wants_gpu(error)
            if _wants_gpu(error):
                output = Output(stdout=NEEDS_GPU)
            elif lacking:
                # It most likely failed because an earlier cell could not make what it needs.
                output = Output(stdout=f"{NEEDS_GPU}, or follows a cell that does\n{error}")
            else:
                errors.append(str(error))
                output = Output(stdout=str(error))
        outputs.append(replace(output, pictures=tuple(map(stamp, output.pictures))))
    return outputs, errors


def _run(cell: Cell, namespace: dict[str, Any], script: str, drawn: GpuGuideCells) -> Output:
    from gpuguide.measure.session import current
    from gpuguide.results.results import Results

    if cell.kind != "drawn":
        printed, value = run_cell(cell, namespace, script)
        refuse_figures(cell, script)
        return Output(*text_and_markup(printed, value))
    drawn.namespace |= {name: value for name, value in namespace.items() if isinstance(value, Results)}
    drawn.namespace["ceilings"] = current().ceilings
    drawn.page.facts.update(current().facts)
    drawn.namespace["arrays"].update((name, kept.array()) for name, kept in current().arrays.items())
    return run_drawn_cell(cell, drawn, script, GpuGuide())


def _wants_gpu(error: CellError) -> bool:
    from gpuguide.errors import BackendError, NoGpuError

    cause = error.__cause__
    if isinstance(cause, ModuleNotFoundError):
        return (cause.name or "").split(".")[0] in _GPU_MODULES
    return isinstance(cause, BackendError | NoGpuError)


def _cut_sizes() -> None:
    """Make every study run quickly, at its two smallest sizes."""
    from gpuguide.measure.study import Study

    # A page calls run() without options, so only the method itself can reduce its sizes.
    whole: Any = Study.run

    def toy(self: Study, **options: Any) -> Any:
        return whole(self, **{**options, "quick": True, "sizes": sorted(self.sizes)[:2]})

    Study.run = toy  # type: ignore[method-assign]


def _only(layout: Layout, page: Page) -> str:
    """Give the list of pages with this page alone, and without what comes before it."""
    head, *entries = re.split(r"(?m)^(?=\[\[page\]\])", layout.pages_toml.read_text(encoding="utf-8"))
    named = re.compile(rf'(?m)^name = "{page.name}"')
    (entry,) = (entry for entry in entries if named.search(entry))
    return head + re.sub(r"(?m)^after = \[[^\]]*\]$", "", entry)


def _write_project(layout: Layout, page: Page, root: Path) -> None:
    """Write a project of this one page, so that a preview changes nothing of the guide."""
    for old in ("docs", "examples", "outputs"):
        shutil.rmtree(root / old, ignore_errors=True)
    script = root / "examples" / page.section / f"{page.name}.py"
    script.parent.mkdir(parents=True)
    shutil.copy(page.script(layout), script)
    (root / "examples" / "pages.toml").write_text(_only(layout, page), encoding="utf-8")
    if not (root / "src").exists():
        # The package itself, because the page shows parts of it; a build only reads it.
        (root / "src").symlink_to(layout.source, target_is_directory=True)
    (root / "docs").mkdir()
    (root / "docs" / "index.rst").write_text(_INDEX.format(section=page.section), encoding="utf-8")
    if (layout.docs / "claims.toml").is_file():
        shutil.copy(layout.docs / "claims.toml", root / "docs")
    if (layout.docs / "_static" / "drawings").is_dir():
        shutil.copytree(layout.docs / "_static" / "drawings", root / "docs" / "_static" / "drawings")
    static = [str(layout.docs / "_static")] if (layout.docs / "_static").is_dir() else []
    (root / "conf.py").write_text(_CONF.format(static=static), encoding="utf-8")


def _child(layout: Layout, *command: str) -> int:
    paths = [str(layout.docs / "_ext"), str(layout.source), os.environ.get("PYTHONPATH", "")]
    # Numba chooses its simulator on import, hence a separate process.
    environment = {
        **os.environ,
        "NUMBA_ENABLE_CUDASIM": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=layout.root, check=False
    ).returncode


def _draft(layout: Layout, page: Page) -> int:
    from sphinx.cmd.build import main as build

    root = layout.preview / page.name
    _write_project(layout, page, root)
    ran = _child(layout, "-m", "gpuguide_docs.commands.preview", page.name, "--run")
    html = root / "html"
    where = ["-c", root, "-d", root / "doctrees", root / "docs", html]
    built = build(["-q", "-E", *map(str, where)])
    if not built:
        print(f"The draft is in {html / 'gallery' / page.section / page.name}.html")
    return ran or built


def main(argv: Sequence[str] | None = None) -> int:
    """Make a draft of a page.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        0, or 1 when a cell failed for another reason than a missing GPU, or 2 for an unknown page.
    """
    from gpuguide.errors import GpuGuideError

    parser = argparse.ArgumentParser(prog="python -m gpuguide_docs.commands.preview", description=__doc__)
    parser.add_argument("page", metavar="PAGE", help="name of a page")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    layout = Layout(Path.cwd())
    try:
        (page,) = chosen_pages(layout, [arguments.page])
    except (GpuGuideError, PagesError) as error:
        print(f"No draft: {error}", file=sys.stderr)
        return 2
    if not arguments.run:
        return _draft(layout, page)
    outputs, errors = run_draft(page.script(layout))
    save_outputs(layout.preview / page.name / "outputs", outputs)
    for message in errors:
        print(message, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
