"""The directive ``syllabus``: the pages, exercises and breaks of a course, with the minutes of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from gpuguide.exercises import pool
from gpuguide_docs.show.cells import fold
from gpuguide_docs.show.site import link_to, site_of
from gpuguide_docs.show.tiles import minutes_to_read, note_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

__all__ = ["SyllabusDirective", "setup"]

_LOGGER = logging.getLogger(__name__)
_BREAKS = ("break", "lunch")
_HEADINGS = ("From", "What", "Minutes")


class syllabus_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Marks the table: attributes ``plan``, and ``minutes``, how long the course may take."""


class SyllabusDirective(SphinxDirective):
    """``.. syllabus:: 90`` adds up the minutes of pages and exercises, and warns if they exceed 90.

    A line names a page and, after a colon, exercises; or it reads ``break: 15`` or ``lunch: 60``.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Mark the place of the table, which needs minutes of other documents, and list the objectives."""
        lines = [line.partition(":") for line in self.content if line.strip()]
        plan = [(name.strip(), rest.split()) for name, _, rest in lines]
        self.env.note_dependency(str(site_of(self.env).layout.pages_toml))
        site, objectives = site_of(self.env), nodes.bullet_list("", bullet="*")
        for page in (site.page(name) for name, _ in plan if name not in _BREAKS):
            note_page(self.env, page)
            link = link_to(self.env.docname, "doc", f"/{page.docname}", page.title)
            words = nodes.Text(f": {'; '.join(page.objectives)}.")
            objectives += nodes.list_item("", nodes.paragraph("", "", link, words))
        table = syllabus_node("", plan=plan, minutes=int(self.arguments[0]))
        self.set_source_info(table)
        return [table, fold("Afterwards, participants can", objectives)]


class Syllabi(SphinxPostTransform):
    """Builds the tables, once all pages are read."""

    # Before links are resolved.
    default_priority = 5

    def run(self, **_kwargs: object) -> None:
        """Build."""
        for place in list(self.document.findall(syllabus_node)):
            at, rows = 0, []
            for shown, minutes in self._items(place):
                rows.append(_row(at, shown, str(minutes)))
                at += minutes
            left = place["minutes"] - at
            if left < 0:
                _LOGGER.warning(
                    "this syllabus takes %d minutes, and has %d; leave out a page or an exercise",
                    *(at, place["minutes"]),
                    location=place,
                )
            rows.append(_row(at, nodes.Text("Questions, and time to spare"), str(left)))
            rows.append(_row(at + left, nodes.Text("End"), ""))
            group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (10, 75, 15)), cols=3)
            group += nodes.thead("", nodes.row("", *(_entry(nodes.Text(text)) for text in _HEADINGS)))
            group += nodes.tbody("", *rows)
            place.replace_self(nodes.table("", group, classes=["gg-syllabus"]))

    def _items(self, place: syllabus_node) -> Iterator[tuple[nodes.Node, int]]:
        site, docname = site_of(self.env), self.env.docname
        for name, rest in place["plan"]:
            if name in _BREAKS:
                yield nodes.emphasis("", name.capitalize()), int(*rest)
                continue
            page = site.page(name)
            yield link_to(docname, "doc", f"/{page.docname}", page.title), minutes_to_read(self.env, page)
            for exercise in map(pool.get, rest):
                link = link_to(docname, "doc", f"/exercises/{exercise.name}", f"Exercise: {exercise.title}")
                yield link, exercise.minutes


def _row(at: int, shown: nodes.Node, minutes: str) -> nodes.row:
    return nodes.row("", *map(_entry, (nodes.Text(f"{at // 60}:{at % 60:02}"), shown, nodes.Text(minutes))))


def _entry(content: nodes.Node) -> nodes.entry:
    return nodes.entry("", nodes.paragraph("", "", content))


def setup(app: Sphinx) -> None:
    """Register directive and transform."""
    app.add_node(syllabus_node)
    app.add_directive("syllabus", SyllabusDirective)
    app.add_post_transform(Syllabi)
