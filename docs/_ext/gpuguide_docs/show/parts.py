"""Directive ``needs-gpus``: a part of a page that comes from a machine with more GPUs than the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError
from gpuguide_docs.show.numbers import NOT_MEASURED, PART
from gpuguide_docs.show.references import measured_on
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["NeedsGpusDirective", "setup"]


class NeedsGpusDirective(SphinxDirective):
    """``.. needs-gpus:: 4`` holds text whose numbers come from a machine with four GPUs.

    Until one has recorded the page, a line that says so stands in its place: no sentence is left with a hole.
    The page's entry declares its parts. With ``:silent:`` the machine is not named again below the text.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"silent": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Read the text with the numbers of its machine, or say what is needed."""
        self.assert_has_content()
        n_gpus = self._n_gpus()
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        if page is None:
            raise self.error(f"{self.name}: only a page of examples/pages.toml has parts")
        try:
            recording = site.recording(site.part(page.name, n_gpus, self.env))
        except GpuGuideError as error:
            self.env.note_reread()
            raise self.error(f"{self.name}: {error}") from None
        if recording is None:
            words = nodes.inline("", f"Needs {n_gpus} GPUs: {NOT_MEASURED}.", classes=["gg-unmeasured"])
            return [
                nodes.container("", nodes.paragraph("", "", words), classes=["gg-part", "gg-placeholder"])
            ]
        before = self.env.temp_data.get(PART, 0)
        self.env.temp_data[PART] = n_gpus
        try:
            content = self.parse_content_to_nodes()
        finally:
            self.env.temp_data[PART] = before
        if "silent" not in self.options:
            where = nodes.inline("", f"Measured on {measured_on(recording)}.", classes=["gg-small"])
            content.append(nodes.paragraph("", "", where, classes=["gg-part-where"]))
        part = nodes.container("", *content, classes=["gg-part"])
        part["part"] = n_gpus
        self.set_source_info(part)
        return [part]

    def _n_gpus(self) -> int:
        try:
            n_gpus = int(self.arguments[0])
        except ValueError:
            n_gpus = 0
        if n_gpus < 2:
            raise self.error(f"{self.name}: a number of GPUs expected, 2 or more; got {self.arguments[0]!r}")
        return n_gpus


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("needs-gpus", NeedsGpusDirective)
