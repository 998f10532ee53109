"""Editors in pages, whose text Python checks in the reader's browser, and the files that they load."""

from __future__ import annotations

import io
import shutil
import zipfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import gpuguide

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["EditorDirective", "setup"]

#: Of Pyodide's package: what runs Python without another package, and which version and licence it has.
_PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
    "package.json",
)
_PACKAGE = ("__init__.py", "errors.py", "tracer/**/*.py", "exercises/**/*.py", "exercises/pool/*/task.md")
_CALLS = ("check", "trace")
_NOT_HERE = "This copy of the site was built without Python for browsers, so nothing runs here."
_NO_SCRIPT = "Without JavaScript, nothing runs here: use the command line, as described below."


class EditorDirective(SphinxDirective):
    """``.. editor:: check NAME`` or ``trace`` makes an editor of the code in it, where the site has Python.

    Of several code blocks with captions, buttons choose one. Without scripts they are what they are.
    """

    required_arguments = 1
    optional_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build a box for the script, or leave the code alone."""
        self.assert_has_content()
        call, name = self.arguments[0], "".join(self.arguments[1:])
        if call not in _CALLS:
            raise self.error(f"{self.name}: expected {' or '.join(_CALLS)}; got {call!r}.")
        content = self.parse_content_to_nodes()
        if not self.config.gpuguide_python:
            # An exercise's page says by itself how to check it elsewhere.
            return [*content, nodes.paragraph("", _NOT_HERE)] if call == "trace" else content
        begin = f'<div class="gg-editor" data-call="{call}" data-name="{escape(name)}">'
        end = f"<noscript><p>{_NO_SCRIPT}</p></noscript></div>"
        return [nodes.raw("", begin, format="html"), *content, nodes.raw("", end, format="html")]


def _add_script(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    body = context.get("body", "")
    if app.config.gpuguide_python and ("gg-editor" in body or "gg-exercise-about" in body):
        app.add_js_file("editor.js", defer="defer")


def _bring(app: Sphinx, error: Exception | None) -> None:
    """Lay Python and the package beside the pages."""
    if error is not None or app.builder.name != "html":
        return
    folder = app.outdir / "_static" / "python"
    if not app.config.gpuguide_python:
        shutil.rmtree(folder, ignore_errors=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in _PYODIDE:
        shutil.copyfile(Path(app.confdir, app.config.gpuguide_python, name), folder / name)
    (folder / "gpuguide.zip").write_bytes(_zipped())


def _zipped() -> bytes:
    """Pack what judges kernels; the same sources give the same bytes."""
    root = Path(gpuguide.__file__).parent
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted({path for pattern in _PACKAGE for path in root.glob(pattern)}):
            name = path.relative_to(root.parent).as_posix()
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def setup(app: Sphinx) -> None:
    """Register the directive, and what brings its files."""
    # The folder with Pyodide's files, from the folder of conf.py; empty for a site without editors.
    app.add_config_value("gpuguide_python", "", "env", str)
    app.add_directive("editor", EditorDirective)
    app.connect("html-page-context", _add_script)
    app.connect("build-finished", _bring)
