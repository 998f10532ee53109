"""Live cells of hand-written pages: myst-nb runs them, a change of the package runs them again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.layout import layout_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup"]

# A kernel warns on the terminal that its sockets are not encrypted, but they are local to this machine.
_KERNEL_CONFIG = """\
c.IPKernelApp.log_level = "ERROR"
c.HistoryManager.enabled = False
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": None, "metadata": {"Date": None, "Creator": None}}
"""
# A chart must be the same file each time, like those that the guide draws itself. The backend's own settings
# would be set when the first figure is made, and lost when the style in which it is drawn ends; and a page
# without a chart need not import Matplotlib.
_CHART_CONFIG = "svg.hashsalt: gpuguide\nsvg.fonttype: path\n"


def _drop_style(app: Sphinx, _config: object) -> None:
    """Keep myst-nb's style sheet, of which the guide's own takes the place, off all pages.

    It is copied after the pages were written, so that links to it differ between a first build and a second.
    """
    kept = [file for file in app.registry.css_files if not file[0].startswith("mystnb.")]
    app.registry.css_files[:] = kept


def _prepare(app: Sphinx) -> None:
    """Let cells find this tree's package, and nothing that the user set IPython up to do."""
    if "myst_nb" not in app.extensions:
        return
    layout = layout_of(app)
    ipython = layout.build / "ipython"
    write_if_changed(ipython / "profile_default" / "ipython_kernel_config.py", _KERNEL_CONFIG)
    os.environ["IPYTHONDIR"] = str(ipython)
    write_if_changed(ipython / "matplotlibrc", _CHART_CONFIG)
    os.environ["MATPLOTLIBRC"] = str(ipython / "matplotlibrc")
    paths = [str(layout.source), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def _kill_kernels(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """End a kernel whose cells are through at once: one that is asked to end may hang, or abort in libzmq."""
    if "myst_nb" in app.extensions and any(env.doc2path(name).suffix == ".md" for name in names):
        # myst-nb imports it for these pages, and has no setting for this.
        from nbclient.client import NotebookClient

        NotebookClient.shutdown_kernel.default_value = "immediate"


def _put_twins(app: Sphinx, doctree: nodes.document) -> None:
    """Give each chart that a cell drew a dark twin, and both a name that stays when the chart changes."""
    from gpuguide.charts.style import to_dark

    layout, docname = layout_of(app), app.env.docname
    number = 0
    for image in list(doctree.findall(nodes.image)):
        drawn = Path(app.env.relfn2path(image["uri"], docname)[1])
        if drawn.suffix != ".svg" or layout.build not in drawn.parents:
            continue
        number += 1
        svg = drawn.read_text(encoding="utf-8")
        twins = []
        for theme, text in (("light", svg), ("dark", to_dark(svg))):
            path = layout.docs / "_generated" / f"{docname.replace('/', '-')}-live-{number}-{theme}.svg"
            write_if_changed(path, text)
            uri = "/" + path.relative_to(layout.docs).as_posix()
            classes = ["recorded-figure", f"only-{theme}"]
            twins.append(nodes.image(uri=uri, alt=image.get("alt", ""), classes=classes))
        image.parent.replace(image, nodes.container("", *twins, classes=["gg-chart"]))


def _read(app: Sphinx, doctree: nodes.document) -> None:
    """Note what a page with live cells was made from."""
    if "myst_nb" not in app.extensions:
        return
    # myst-nb is slow to import, and by now it is there.
    from myst_nb.sphinx_ import NbMetadataCollector

    env = app.env
    ran = NbMetadataCollector.get_exec_data(env, env.docname)
    if ran is None:
        return
    # The package loads its modules, and its recordings, when they are first used, so a page can reach any of
    # them. Running a page once too often costs a second; showing what the code no longer does would be wrong.
    for path in (layout_of(app).source / "gpuguide").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            env.note_dependency(path)
    if not ran["succeeded"]:
        # Without this, a page that failed would count as read, and the next build would pass.
        env.note_reread()


def setup(app: Sphinx) -> None:
    """Prepare for the cells of all pages, and look at each page after it was read."""
    app.connect("config-inited", _drop_style)
    app.connect("builder-inited", _prepare)
    app.connect("env-before-read-docs", _kill_kernels)
    # Before Sphinx looks which files the page shows.
    app.connect("doctree-read", _put_twins, priority=100)
    app.connect("doctree-read", _read)
