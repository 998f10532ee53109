"""Directives of exercises: one on its page, and the whole pool as a table with filters."""

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
    check_call,
    check_commands,
    exercise_files,
    exercise_id,
    find_exercise,
    home_of,
)
from gpuguide_docs.show.exercise_text import markdown_nodes
from gpuguide_docs.show.folded import fold
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide.exercises.model import Exercise
    from gpuguide_docs.pages.pages_toml import Page

__all__ = [
    "ExerciseDirective",
    "OtherExercisesDirective",
    "PoolDirective",
    "exercise_node",
    "setup",
    "show_exercise",
]

_HEADINGS = ("Exercise", "Level", "Minutes", "Page")


class ExerciseDirective(SphinxDirective):
    """``.. exercise:: NAME`` shows an exercise of the pool: task, start, how to check it, hints, solution."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show it, or name what the pool has instead."""
        try:
            node = show_exercise(self.env, self.state.document, self.arguments[0])
        except GpuGuideError as error:
            # Without this, a document that failed would count as read, and the next build would pass.
            self.env.note_reread()
            raise self.error(f"exercise: {error}") from None
        self.set_source_info(node)
        return [node]


def show_exercise(env: BuildEnvironment, document: nodes.document, name: str) -> nodes.container:
    """Show an exercise on the page that is being read, which is read again when one of its files changes."""
    exercise = find_exercise(name)
    for path in exercise_files(exercise):
        env.note_dependency(str(path))
    node = exercise_node(exercise)
    for part in node.findall(nodes.container):
        if part["ids"]:
            document.set_id(part)
    # Links lead to the exercise's home, although other pages show it as well.
    home = home_of(site_of(env), name)
    if home is None or home.docname == env.docname:
        label = exercise_id(name)
        env.domains.standard_domain.note_hyperlink_target(label, env.docname, label, exercise.title)
    return node


def exercise_node(exercise: Exercise) -> nodes.container:
    """Build an exercise: heading, task, start, how to check it, and folded hints and solution.

    Its identifiers are ``exercise-NAME``, ``exercise-NAME-hint-1`` and ``exercise-NAME-solution``.
    """
    about = f"{exercise.level} · {exercise.minutes} min · checked without a GPU"
    statement = markdown_nodes(exercise.statement, f"task.md of exercise {exercise.name!r}")
    return nodes.container(
        "",
        _heading(exercise),
        nodes.paragraph("", about, classes=["gg-exercise-about"]),
        *statement,
        nodes.paragraph("", "Start from this:", classes=["gg-lead-in"]),
        _code(exercise.start.strip("\n"), "python"),
        *_how_to_check(exercise),
        *_hints(exercise),
        fold("Solution", _target(exercise_id(exercise.name, "solution"), _solution(exercise))),
        ids=[exercise_id(exercise.name)],
        classes=["gg-exercise"],
    )


def _heading(exercise: Exercise) -> nodes.rubric:
    link = nodes.reference("", "#", refid=exercise_id(exercise.name), classes=["headerlink"])
    link["reftitle"] = "Link to this exercise"
    heading = nodes.rubric("", "", nodes.Text(f"Exercise: {exercise.title}"), link)
    # Without a level Sphinx writes a rubric as a paragraph, which is no heading to a screen reader.
    heading["heading-level"] = 3
    return heading


def _how_to_check(exercise: Exercise) -> list[nodes.Node]:
    return [
        nodes.paragraph("", "Check it in a notebook:", classes=["gg-lead-in"]),
        _code(check_call(exercise), "python"),
        nodes.paragraph("", "Or on the command line, in a file of your own:", classes=["gg-lead-in"]),
        _code(check_commands(exercise), "console"),
    ]


def _hints(exercise: Exercise) -> list[nodes.Node]:
    return [
        fold(
            f"Hint {number}",
            _target(
                exercise_id(exercise.name, f"hint-{number}"),
                markdown_nodes(hint, f"hint {number} of exercise {exercise.name!r}"),
            ),
        )
        for number, hint in enumerate(exercise.hints, start=1)
    ]


def _solution(exercise: Exercise) -> list[nodes.Node]:
    return [_code(exercise.solution.strip("\n"), "python")]


def _target(name: str, content: list[nodes.Node]) -> nodes.container:
    # The identifier is inside: browsers unfold what holds the target of a link, even without a script.
    return nodes.container("", *content, ids=[name], classes=["gg-fold-target"])


def _code(text: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language)


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
        exercises = [find_exercise(name) for name in pool.names()]
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
    app.setup_extension("sphinx_design")
    app.add_directive("exercise", ExerciseDirective)
    app.add_directive("exercise-pool", PoolDirective)
    app.add_directive("other-exercises", OtherExercisesDirective)
