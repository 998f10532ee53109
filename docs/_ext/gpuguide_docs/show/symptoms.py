"""The directive ``symptoms``: what goes wrong, why, and what to do, from the doctor's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from gpuguide.symptoms import PATH, Symptom, symptoms

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["SectionLinks", "SymptomsDirective", "setup"]

logger = logging.getLogger(__name__)


class section_link(nodes.Inline, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """A link to ``docname#anchor``, whose words are the titles, known once all documents are read."""


class SymptomsDirective(SphinxDirective):
    """``{symptoms} install`` shows a group of the table, a section for each symptom."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Build the sections."""
        self.env.note_dependency(str(PATH))
        group = [row for row in symptoms() if row.group == self.arguments[0]]
        if not group:
            raise self.error(f"{PATH.name} has no group {self.arguments[0]!r}")
        return [self._section(row) for row in group]

    def _section(self, row: Symptom) -> nodes.section:
        section = nodes.section("", nodes.title("", row.title), ids=[row.name], classes=["gg-symptom"])
        # Lessons link here by the role ref.
        section["names"] = [f"symptom-{row.name}"]
        self.state.document.note_explicit_target(section, section)
        if row.messages:
            messages = [nodes.paragraph("", "", nodes.literal("", words)) for words in row.messages]
            section += nodes.container("", *messages, classes=["gg-symptom-messages"])
        section += self.parse_text_to_nodes(f"**Why:** {row.cause}\n\n**What to do:** {row.cure}")
        if row.command:
            section += nodes.literal_block(row.command, f"$ {row.command}", language="console")
        if row.more:
            section += self.parse_text_to_nodes(row.more)
        if row.see:
            lines = [nodes.paragraph("", "→ ", self._link(target)) for target in row.see]
            section += nodes.container("", *lines, classes=["gg-symptom-see"])
        return section

    def _link(self, target: str) -> section_link:
        docname, _, anchor = target.partition("#")
        docname = docname or self.env.docname
        # Read again when the titles there may have changed.
        self.env.note_dependency(self.env.doc2path(docname))
        return section_link(docname=docname, anchor=anchor)


class SectionLinks(SphinxPostTransform):
    """Writes the links, with the titles of pages and sections for words."""

    default_priority = 5

    def run(self, **_kwargs: object) -> None:
        """Replace what stands for them."""
        for place in list(self.document.findall(section_link)):
            words = self._words(place["docname"], place["anchor"])
            if words is None:
                where = "#".join(filter(None, (place["docname"], place["anchor"])))
                logger.warning("%s: there is no page or section %r", PATH.name, where, location=place)
                place.parent.remove(place)
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, place["docname"])
            if place["anchor"]:
                uri += f"#{place['anchor']}"
            place.replace_self(nodes.reference("", words, refuri=uri, internal=True))

    def _words(self, docname: str, anchor: str) -> str | None:
        if docname not in self.env.titles:
            return None
        title = self.env.titles[docname].astext()
        if not anchor:
            return title
        entries = self.env.tocs[docname].findall(nodes.reference)
        section = next((entry.astext() for entry in entries if entry["anchorname"] == f"#{anchor}"), None)
        return section and (section if docname == self.env.docname else f"{title}: {section}")


def setup(app: Sphinx) -> None:
    """Register the directive and the transform."""
    app.add_node(section_link)
    app.add_directive("symptoms", SymptomsDirective)
    app.add_post_transform(SectionLinks)
