"""Directives that show pictures: ``drawing`` of an idea, ``drawn`` for a chart on a page written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError, unknown
from gpuguide_docs.pages.cells import Cell
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.record.execution import CellError
from gpuguide_docs.replay.drawn_cells import draw
from gpuguide_docs.show.guide import states_of
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide_docs.pages.layout import Layout
    from gpuguide_docs.replay.outputs import Picture

__all__ = ["DrawingDirective", "DrawnDirective", "setup", "twins"]

# Stands in the style sheet of a drawing that has larger words for narrow screens.
_FOR_PHONES = "@media"


class DrawingDirective(SphinxDirective):
    """``.. drawing:: NAME`` shows ``docs/_static/drawings/NAME.svg`` and its twin ``NAME-dark.svg``.

    The content is the alternative text.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Show both; the style sheet hides the one that does not fit the theme."""
        name, words = self.arguments[0], " ".join(" ".join(self.content).split())
        if not words:
            raise self.error(f"drawing {name}: say under it, indented, what the drawing shows")
        folder = site_of(self.env).layout.docs / "_static" / "drawings"
        known = [path.stem for path in sorted(folder.glob("*.svg")) if not path.stem.endswith("-dark")]
        for stem in (name, f"{name}-dark"):
            if not (folder / f"{stem}.svg").exists():
                self.env.note_reread()
                raise self.error(f"drawing: {unknown('drawing', stem, known)}")
        twins = [self._image(name, words, "only-light"), self._image(f"{name}-dark", words, "only-dark")]
        # By this the minutes of a page count a drawing, once.
        twins[0]["drawing"] = name
        # The others scroll on a narrow screen, as charts do.
        if _FOR_PHONES in (folder / f"{name}.svg").read_text(encoding="utf-8"):
            return [*twins]
        return [nodes.container("", *twins, classes=["gg-chart"])]

    def _image(self, stem: str, words: str, theme: str) -> nodes.image:
        image = nodes.image(uri=f"/_static/drawings/{stem}.svg", alt=words, classes=["gg-drawing", theme])
        self.set_source_info(image)
        return image


class DrawnDirective(SphinxDirective):
    """``.. drawn:: PAGE`` with code like that of a drawn cell, which sees the results of that page.

    The figures are drawn at every build from the page's current recording; if there is none, a note stands in
    their place.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw, or say why there is nothing to draw."""
        site, name = site_of(self.env), self.arguments[0]
        layout, states = site.layout, states_of(site.layout)
        try:
            state = site.state(name, self.env)
            recording = site.recording(state)
        except GpuGuideError as error:
            raise self.error(f"drawn: {error}") from None
        # A written page is read again for a change of its source alone, and this code draws it.
        for path in states.drawing_code:
            self.env.note_dependency(path)
        if recording is None:
            note = nodes.paragraph("", f"This chart appears once the page {name} is measured.")
            return [nodes.container("", note, classes=["not-measured"])]
        cell = Cell("drawn", 0, "\n".join(self.content), self.content_offset + 1)
        serial = self.env.new_serialno("gpuguide-drawn")
        label = f"{self.env.docname.replace('/', '-')}-{serial + 1}"
        source = Path(self.get_source_info()[0])
        try:
            digest = f"{state.digest} {site.drawing(state).fingerprint}"
            drawing = draw(states, label, (cell,), recording, digest, source)
        except CellError as error:
            raise self.error(f"drawn: {error}") from error
        pictures = [picture for output in drawing.outputs if output for picture in output.pictures]
        return [_chart(layout, f"{label}-{i}", picture) for i, picture in enumerate(pictures)]


def _chart(layout: Layout, stem: str, picture: Picture) -> nodes.container:
    wide = ["gg-wide"] if picture.narrow else []
    images = twins(layout, stem, picture.data, picture.alt, *wide)
    if picture.narrow:
        images += twins(layout, f"{stem}-narrow", picture.narrow, picture.alt, "gg-narrow")
    return nodes.container("", *images, classes=["gg-chart"])


def twins(layout: Layout, stem: str, light: bytes, alt: str, *classes: str) -> list[nodes.image]:
    """Write a figure and its dark twin, and show whichever fits the reader's theme."""
    from gpuguide.charts.style import to_dark

    images = []
    for theme, data in (("light", light), ("dark", to_dark(light.decode()).encode())):
        path = layout.docs / "_generated" / f"{stem}-{theme}.svg"
        write_if_changed(path, data)
        uri = "/" + path.relative_to(layout.docs).as_posix()
        images.append(nodes.image(uri=uri, alt=alt, classes=["recorded-figure", *classes, f"only-{theme}"]))
    return images


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("drawing", DrawingDirective)
    app.add_directive("drawn", DrawnDirective)
