"""Pictures on pages: the directive ``drawing``, and the light and dark twins of a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import unknown
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide_docs.pages.layout import Layout

__all__ = ["DrawingDirective", "setup", "twins"]


class DrawingDirective(SphinxDirective):
    """``.. drawing:: NAME`` shows ``docs/_static/drawings/NAME.svg`` and its twin ``NAME-dark.svg``.

    Phones show ``NAME-narrow.svg`` if there is one, and its twin. The content is the alternative text.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Show both; the style sheet hides the one that does not fit the theme."""
        name, words = self.arguments[0], " ".join(" ".join(self.content).split())
        if not words:
            raise self.error(f"drawing {name}: say under it, indented, what the drawing shows")
        folder = site_of(self.env).layout.docs / "_static" / "drawings"
        known = [
            path.stem for path in sorted(folder.glob("*.svg")) if not path.stem.endswith(("-dark", "-narrow"))
        ]
        for stem in (name, f"{name}-dark"):
            if not (folder / f"{stem}.svg").exists():
                self.env.note_reread()
                raise self.error(f"drawing: {unknown('drawing', stem, known)}")
        has_narrow = (folder / f"{name}-narrow.svg").exists()
        images = self._twins(name, words, *(["gg-wide"] if has_narrow else []))
        # By this the minutes of a page count a drawing, once.
        images[0]["drawing"] = name
        if has_narrow:
            return [*images, *self._twins(f"{name}-narrow", words, "gg-narrow")]
        # The others scroll on a narrow screen, as charts do.
        return [nodes.container("", *images, classes=["gg-chart"])]

    def _twins(self, stem: str, words: str, *classes: str) -> list[nodes.image]:
        return [
            self._image(stem, words, *classes, "only-light"),
            self._image(f"{stem}-dark", words, *classes, "only-dark"),
        ]

    def _image(self, stem: str, words: str, *classes: str) -> nodes.image:
        image = nodes.image(uri=f"/_static/drawings/{stem}.svg", alt=words, classes=["gg-drawing", *classes])
        self.set_source_info(image)
        return image


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
    """Register the directive."""
    app.add_directive("drawing", DrawingDirective)
