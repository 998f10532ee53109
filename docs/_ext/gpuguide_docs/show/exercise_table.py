"""Directives of the page that shows the whole pool: a table with filters, and the exercises of no page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError
from gpuguide.exercises import pool
from gpuguide_docs.pages.pages_toml import LEVELS
from gpuguide_docs.show.exercise_pool import (
    exercise_files,
    exercise_id,
    exercise_names,
    find_exercise,
    home_of,
)
from gpuguide_docs.show.exercise_text import markdown_nodes
from gpuguide_docs.show.exercises import show_exercise
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.exercises.model import Exercise
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["OtherExercisesDirective", "PoolDirective", "setup"]

_HEADINGS = ("Exercise", "Level", "Minutes", "Page")


class PoolDirective(SphinxDirective):
    """``.. exercise-pool::`` lists all exercises; a script adds filters by level and subject."""

    def run(self) -> list[nodes.Node]:
        """Build the filters and the table."""
        exercises = _pool(self)
        if not exercises:
            return [nodes.paragraph("", "There are no exercises yet.")]
        try:
            rows = [self._row(exercise) for exercise in exercises]
        except GpuGuideError as error:
            self.env.note_reread()
            raise self.error(f"{self.name}: {error}") from None
        head = nodes.row("", *(_entry(nodes.paragraph("", text)) for text in _HEADINGS))
        group = nodes.tgroup("", cols=len(_HEADINGS))
        group += [nodes.colspec(colwidth=width) for width in (58, 14, 10, 18)]
        group += [nodes.thead("", head), nodes.tbody("", *rows)]
        table = nodes.table("", group, classes=["gg-pool"])
        return [nodes.raw("", _filters(exercises), format="html"), table]

    def _row(self, exercise: Exercise) -> nodes.row:
        home = home_of(site_of(self.env), exercise.name)
        where = self._page_link(home) if home else nodes.Text("below")
        cells = [
            _entry(nodes.paragraph("", "", self._link(exercise)), *_teaches(exercise)),
            _entry(nodes.paragraph("", exercise.level)),
            _entry(nodes.paragraph("", str(exercise.minutes))),
            _entry(nodes.paragraph("", "", where)),
        ]
        classes = [f"gg-level-{exercise.level}", *(_tag_class(tag) for tag in exercise.tags)]
        return nodes.row("", *cells, classes=classes)

    def _link(self, exercise: Exercise) -> nodes.Node:
        return self._cross("ref", exercise_id(exercise.name), exercise.title)

    def _page_link(self, page: Page) -> nodes.Node:
        return self._cross("doc", f"/{page.docname}", page.title)

    def _cross(self, kind: str, target: str, text: str) -> addnodes.pending_xref:
        return addnodes.pending_xref(
            "",
            nodes.inline("", text),
            refdomain="std",
            reftype=kind,
            reftarget=target,
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )


class OtherExercisesDirective(SphinxDirective):
    """``.. other-exercises::`` shows, whole, the exercises that no page of the guide shows."""

    def run(self) -> list[nodes.Node]:
        """Show them in teaching order."""
        site = site_of(self.env)
        names = [each.name for each in _pool(self) if home_of(site, each.name) is None]
        try:
            return [show_exercise(self.env, self.state.document, name) for name in names]
        except GpuGuideError as error:
            self.env.note_reread()
            raise self.error(f"{self.name}: {error}") from None


def _pool(directive: SphinxDirective) -> list[Exercise]:
    """Give all exercises, and have the document read again when one of them, or the pages, change."""
    env = directive.env
    env.note_dependency(str(pool.__file__))
    env.note_dependency(str(site_of(env).layout.pages_toml))
    try:
        exercises = [find_exercise(name) for name in exercise_names()]
    except GpuGuideError as error:
        env.note_reread()
        raise directive.error(f"{directive.name}: {error}") from None
    for exercise in exercises:
        for path in exercise_files(exercise):
            env.note_dependency(str(path))
    return exercises


def _teaches(exercise: Exercise) -> list[nodes.Node]:
    return markdown_nodes(exercise.teaches, f"teaches of exercise {exercise.name!r}")


def _entry(*content: nodes.Node) -> nodes.entry:
    return nodes.entry("", *content)


def _tag_class(tag: str) -> str:
    return f"gg-tag-{nodes.make_id(tag)}"


def _filters(exercises: list[Exercise]) -> str:
    """Write the filters; they stay hidden where no script runs, and the table is whole."""
    levels = [level for level in LEVELS if any(each.level == level for each in exercises)]
    boxes = "".join(
        f'<label><input type="checkbox" value="gg-level-{level}" checked> {level}</label>' for level in levels
    )
    tags = sorted({tag for each in exercises for tag in each.tags}, key=str.lower)
    return (
        '<form class="gg-filter" aria-label="Which exercises to list" hidden>'
        f"<fieldset><legend>Level</legend>{boxes}</fieldset>"
        f"<label>About <select>{_options(tags)}</select></label>"
        f'<output class="gg-filter-count">{len(exercises)} of {len(exercises)} exercises</output></form>'
    )


def _options(tags: Iterable[str]) -> str:
    first = '<option value="">everything</option>'
    return first + "".join(f'<option value="{_tag_class(tag)}">{escape(tag)}</option>' for tag in tags)


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("exercise-pool", PoolDirective)
    app.add_directive("other-exercises", OtherExercisesDirective)
