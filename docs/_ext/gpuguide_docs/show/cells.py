"""Cells of a page: code and its output as one node, some folded; and live cells, which myst-nb runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_design.dropdown import dropdown_main, dropdown_title

from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.layout import layout_of
from gpuguide_docs.show.pictures import twins

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["CARD_ID", "CellDirective", "FoldsInCard", "card_of", "cell_node", "fold", "setup"]

CARD_ID = "how-this-was-measured"


def fold(summary: str, *content: nodes.Node, classes: tuple[str, ...] = ()) -> dropdown_main:
    """Put content under a line that is always shown, and that a click opens.

    These are the nodes that a ``dropdown`` of sphinx-design becomes in the end, without its card and icons.
    """
    return dropdown_main("", dropdown_title("", summary), *content, classes=["gg-fold", *classes])


def card_of(document: nodes.document) -> nodes.Element:
    """Give the inside of the fold at the end of a page, which holds its bookkeeping; make it if need be."""
    inside = next((node for node in document.findall(nodes.container) if CARD_ID in node["ids"]), None)
    if inside is None:
        # The identifier is inside: browsers unfold what holds the target of a link.
        inside = nodes.container(ids=[CARD_ID])
        section = next(iter(document.findall(nodes.section)), document)
        # Nearly all pages have one with the same words, so a search for a driver would lead to all of them.
        section.append(fold("How this was measured", inside, classes=("gg-measured-card", "no-search")))
    return inside


class cell_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """A cell: attribute ``wrong``; it writes nothing itself."""


class CellDirective(SphinxDirective):
    """``.. cell::``, which replay writes around a block of code and what the code put out."""

    has_content = True
    option_spec: ClassVar = {
        "fold": directives.unchanged_required,
        **dict.fromkeys(("at-end", "code-only", "wrong"), directives.flag),
    }

    def run(self) -> list[nodes.Node]:
        """Fold what the options say."""
        code, *output = self.parse_content_to_nodes()
        cell = cell_node("", wrong="wrong" in self.options)
        if "fold" not in self.options:
            cell += [code, *output]
        elif "code-only" in self.options:
            cell += [*output, self._folded(code)]
        else:
            cell += self._folded(code, *output)
        return [cell]

    def _folded(self, *content: nodes.Node) -> dropdown_main:
        title = self.options["fold"]
        inside = nodes.container("", *content, ids=[self._new_id(title)])
        self.state.document.set_id(inside)
        classes = ("gg-wrong-fold",) if "wrong" in self.options else ()
        folded = fold(title, inside, classes=("gg-cell", *classes))
        folded["code_only"] = "code-only" in self.options
        folded["at_end"] = folded["code_only"] or "at-end" in self.options
        return folded

    def _new_id(self, title: str) -> str:
        first = f"cell-{nodes.make_id(title)}".rstrip("-")
        taken = self.state.document.ids
        names = (first, *(f"{first}-{number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)


class FoldsInCard(SphinxPostTransform):
    """Moves bookkeeping, the code of charts and tables of studies into the card at the end of the page.

    Only what is shown is in this order: downloads see the cells in the order they run in.
    """

    default_priority = 8

    def run(self, **_kwargs: object) -> None:
        """Move them."""
        folds = [node for node in self.document.findall(dropdown_main) if node.get("at_end")]
        for node in folds:
            if node.get("code_only"):
                node.insert(0, dropdown_title("", f"{node.pop(0).astext()} in “{_heading(node)}”"))
            node.parent.remove(node)
        if folds:
            card_of(self.document)[0:0] = folds


def _heading(node: nodes.Node) -> str:
    """Give the heading under which a node stands."""
    while node.parent and not isinstance(node, nodes.section):
        node = node.parent
    return node[0].astext() if isinstance(node, nodes.section) else ""


def _pass(_writer: Any, _node: nodes.Node) -> None:
    """Code and output stand where the cell does."""


# Live cells of pages written by hand ------------------------------------------------------------------------

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
    layout, docname = layout_of(app), app.env.docname
    number = 0
    for image in list(doctree.findall(nodes.image)):
        drawn = Path(app.env.relfn2path(image["uri"], docname)[1])
        if drawn.suffix != ".svg" or layout.build not in drawn.parents:
            continue
        number += 1
        stem = f"{docname.replace('/', '-')}-live-{number}"
        pair = twins(layout, stem, drawn.read_bytes(), image.get("alt", ""))
        image.parent.replace(image, nodes.container("", *pair, classes=["gg-chart"]))


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
    """Register directive, node and transform, and what live cells need."""
    app.setup_extension("sphinx_design")
    plain = (_pass, _pass)
    app.add_node(cell_node, html=plain, latex=plain, text=plain, man=plain, texinfo=plain)
    app.add_directive("cell", CellDirective)
    app.add_post_transform(FoldsInCard)
    app.connect("config-inited", _drop_style)
    app.connect("builder-inited", _prepare)
    app.connect("env-before-read-docs", _kill_kernels)
    # Before Sphinx looks which files the page shows.
    app.connect("doctree-read", _put_twins, priority=100)
    app.connect("doctree-read", _read)
