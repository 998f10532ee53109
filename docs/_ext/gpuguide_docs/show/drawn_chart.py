"""Directive ``drawn``: a chart of recorded results on a page written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide_docs.pages.cells import Cell
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.record.execution import CellError
from gpuguide_docs.replay.drawn_cells import draw, drawing_modules
from gpuguide_docs.replay.states import note_use, states_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["Drawn", "setup"]


class Drawn(SphinxDirective):
    """``.. drawn:: PAGE`` with code like that of a drawn cell, which sees the results of that page.

    The figures are drawn at every build from the page's current recording; a page that is not measured
    leaves a note in their place.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw, or say why there is nothing to draw."""
        layout = Layout(Path(self.config.gpuguide_root or self.env.app.confdir))
        name = self.arguments[0]
        try:
            state = states_of(layout)[name]
        except KeyError:
            raise self.error(f"drawn: no page {name!r} in examples/pages.toml") from None
        note_use(self.env, state)
        for module in drawing_modules(layout):
            self.env.note_dependency(module)
        if not state.current or state.recording is None:
            note = nodes.paragraph("", f"This chart appears once the page {name} is measured.")
            return [nodes.container("", note, classes=["not-measured"])]
        cell = Cell("drawn", 0, "\n".join(self.content), self.content_offset + 1)
        serial = self.env.new_serialno("gpuguide-drawn")
        label = f"{self.env.docname.replace('/', '-')}-{serial + 1}"
        source = Path(self.get_source_info()[0])
        try:
            outputs = draw(layout, label, (cell,), state.recording, state.digest, source)
        except CellError as error:
            raise self.error(f"drawn: {error}") from error
        pictures = [picture for output in outputs if output for picture in output.pictures]
        return [
            node
            for i, picture in enumerate(pictures)
            for node in self._twins(layout, f"{label}-{i}", picture)
        ]

    def _twins(self, layout: Layout, stem: str, picture: Any) -> list[nodes.Node]:
        """Write a figure and its dark twin, and show whichever fits the reader's theme."""
        from gpuguide.charts.style import to_dark

        twins = {"light": picture.data, "dark": to_dark(picture.data.decode()).encode()}
        images: list[nodes.Node] = []
        for theme, data in twins.items():
            path = layout.docs / "_generated" / f"{stem}-{theme}.svg"
            write_if_changed(path, data)
            uri = "/" + path.relative_to(layout.docs).as_posix()
            images.append(nodes.image(uri=uri, alt=picture.alt, classes=["recorded-figure", f"only-{theme}"]))
        return [nodes.container("", *images, classes=["gg-chart"])]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("drawn", Drawn)
