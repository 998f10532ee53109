"""A draft of a page without a GPU (``make preview PAGE=name``): run at toy size in the simulator.

Everything is written below ``.preview``, stamped "draft, simulator"; nothing below ``recorded``.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide_docs.commands.cupy_by_numpy import NeedsGpuError
from gpuguide_docs.commands.toy import CEILINGS, stand_in
from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Page, PagesError
from gpuguide_docs.record.execution import CellError, refuse_figures, run_cell
from gpuguide_docs.record.recorder import chosen_pages
from gpuguide_docs.replay.drawn_cells import run_drawn_cell, text_and_markup
from gpuguide_docs.replay.outputs import Output, Picture, save_outputs
from gpuguide_docs.show.guide import GpuGuide, GpuGuideCells

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording

__all__ = ["NEEDS_GPU", "Draft", "main", "run_draft", "stamp"]

NEEDS_GPU = "needs a GPU"
_STAMP = "draft, simulator"
_VIEW_BOX = re.compile(rb'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_GPU_MODULES = ("cupy", "cupyx", "pynvml", "cupy_backends")
#: What Numba's kernels and `cuda` have on a GPU alone.
_NOT_SIMULATED = (
    *("as_cuda_array", "external_stream", "shfl_sync", "shfl_down_sync", "shfl_up_sync", "shfl_xor_sync"),
    "syncwarp",
)
#: Where the simulator's kernels are, which lack what compiled ones know of themselves.
_KERNELS = "numba.cuda.simulator.kernel"
_MOST_S = 30

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
    """Hatch a figure and write "draft, simulator" over it, so that none is taken for a measurement."""
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


@dataclass
class Draft:
    """What a page's cells came to."""

    outputs: list[Output | None] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


def run_draft(script: Path, recording: Recording | None = None, extras: Sequence[str] = ()) -> Draft:
    """Run a page's cells in this process, which has the simulator on."""
    stand_in()
    namespace: dict[str, Any] = {"__name__": "__main__", "__doc__": ""}
    draft = Draft()
    missing: dict[str, str] = {}
    facts, arrays = (recording.facts, recording.arrays) if recording else ({}, {})
    drawn = GpuGuideCells({}, facts, CEILINGS, arrays, quick=True)
    for cell in read_cells(script):
        # A thumbnail is drawn of sizes that toy data lack.
        if cell.kind in ("text", "comment") or cell.is_thumbnail:
            draft.outputs.append(None)
            continue
        try:
            with _limited():
                output = _run(cell, namespace, str(script), drawn)
        except CellError as error:
            lacks = _lacks(error, missing, extras)
            if cell.is_wrong:
                lacks = lacks or f"what is wrong on purpose; the simulator refuses it: {error.__cause__}"
            message = str(error)
            if lacks:
                message = f"{NEEDS_GPU}: {lacks}"
                missing.update(dict.fromkeys(_names(cell), lacks))
            output = Output(stdout=message)
            place, _, _ = str(error).partition(": ")
            draft.lacking += [f"{place}: {message}"] if lacks else []
            draft.failed += [] if lacks else [message]
        draft.outputs.append(replace(output, pictures=tuple(map(stamp, output.pictures))))
    return draft


def _run(cell: Cell, namespace: dict[str, Any], script: str, drawn: GpuGuideCells) -> Output:
    from gpuguide.measure.session import current
    from gpuguide.results.results import Results

    if cell.kind != "drawn":
        printed, value = run_cell(cell, namespace, script)
        refuse_figures(cell, script)
        return Output(*text_and_markup(printed, value))
    drawn.namespace |= {name: value for name, value in namespace.items() if isinstance(value, Results)}
    drawn.page.facts.update(current().facts)
    drawn.namespace["arrays"].update((name, kept.array()) for name, kept in current().arrays.items())
    return run_drawn_cell(cell, drawn, script, GpuGuide())


def _lacks(error: CellError, missing: Mapping[str, str], extras: Sequence[str]) -> str:
    """Say what a cell lacks here that it would have beside a GPU; nothing if the cell itself is wrong."""
    cause = error.__cause__
    if isinstance(cause, ModuleNotFoundError):
        name = cause.name or ""
        if name in extras:
            return f"the package {name}"
        return name if name.split(".")[0] in _GPU_MODULES else ""
    if isinstance(cause, NameError | KeyError):
        # Earlier cells that could not run would have made it.
        key = cause.name if isinstance(cause, NameError) else next(iter(cause.args), "")
        return missing.get(str(key), "")
    return _not_simulated(cause) or _only_on_a_gpu(cause)


def _not_simulated(cause: BaseException | None) -> str:
    if isinstance(cause, AttributeError):
        lacks = cause.name in _NOT_SIMULATED or type(cause.obj).__module__ == _KERNELS
        return f"{cause.name}, which the simulator lacks" if lacks else ""
    lacks = isinstance(cause, RuntimeError | NotImplementedError) and "the simulator" in str(cause)
    return str(cause) if lacks else ""


def _only_on_a_gpu(cause: BaseException | None) -> str:
    from gpuguide.errors import BackendError, NoGpuError
    from gpuguide.measure.first_call import FirstCallError

    fresh = "a process of its own, in which nothing stands in for CuPy"
    reasons = {
        NeedsGpuError: str(cause),
        BackendError: str(cause),
        NoGpuError: "what a GPU says of itself",
        FirstCallError: fresh,
        subprocess.CalledProcessError: fresh,
        np.linalg.LinAlgError: f"CuPy's answer where NumPy raises {cause}",
        TimeoutError: f"more than {_MOST_S} s without one; try it at a smaller size",
    }
    return next((words for kind, words in reasons.items() if isinstance(cause, kind)), "")


def _names(cell: Cell) -> set[str]:
    """Give the names that a cell defines, and those of facts, which are text."""
    names = set()
    for node in ast.walk(ast.parse(cell.content)):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.FunctionDef(name=name)
                | ast.Constant(value=str(name))
            ):
                names.add(name)
            case ast.alias():
                names.add(node.asname or node.name)
    return names


@contextmanager
def _limited() -> Iterator[None]:
    """Stop a cell that would keep its writer waiting: a loop over all numbers is slow in the simulator."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_MOST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


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
    """Make a draft of a page."""
    from gpuguide.errors import GpuGuideError
    from gpuguide.recordings.store import load_or_none

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
    draft = run_draft(page.script(layout), load_or_none(page.name, root=layout.recorded), page.needs.extras)
    save_outputs(layout.preview / page.name / "outputs", draft.outputs)
    for line in dict.fromkeys((*draft.lacking, *draft.failed)):
        print(line, file=sys.stderr)
    return 1 if draft.failed else 0


if __name__ == "__main__":
    sys.exit(main())
