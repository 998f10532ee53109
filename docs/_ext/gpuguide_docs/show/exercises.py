"""Exercises: one on its page, the whole pool as a table with filters, and the box ``try-it``."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError
from gpuguide.exercises import pool
from gpuguide_docs.pages.pages_toml import LEVELS
from gpuguide_docs.show.cells import fold
from gpuguide_docs.show.site import link_to, site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.exercises.model import Exercise
    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.show.site import Site

__all__ = [
    "ExerciseDirective",
    "OtherExercisesDirective",
    "PoolDirective",
    "TryItDirective",
    "check_call",
    "check_commands",
    "exercise_id",
    "home_of",
    "setup",
]

_HEADINGS = {"Exercise": 58, "Level": 14, "Minutes": 10, "Page": 18}
_FILES = ("exercise.py", "task.md", "start.py", "solution.py")


def exercise_id(name: str, part: str = "") -> str:
    """Return the identifier that a link to an exercise, or to a part of it, ends with.

    >>> exercise_id("grid_stride", "hint-1")
    'exercise-grid-stride-hint-1'
    """
    return "-".join(["exercise", *name.split("_"), *([part] if part else [])])


def home_of(site: Site, name: str) -> Page | None:
    """Return the page that links to an exercise lead to; None leaves it to the page of the whole pool.

    Several pages may show an exercise. Its home is the first of its own list that does.
    """
    pages = [page for page in site.pages if name in page.exercises]
    own = pool.get(name).pages if pages else ()
    return min(pages, key=lambda page: [*own, page.name].index(page.name), default=None)


def check_call(exercise: Exercise) -> str:
    """Return the Python that checks an answer in a session: an import and a call."""
    call = f'gpuguide.exercises.check("{exercise.name}", {exercise.function_name})'
    return f"import gpuguide.exercises\n\n{call}"


def check_commands(exercise: Exercise) -> str:
    """Return the commands that write the start and check it, each after a prompt."""
    name = exercise.name
    return f"$ gpuguide exercises start {name}\n$ gpuguide exercises check {name}"


class _ExercisesDirective(SphinxDirective):
    """A directive that shows exercises; its document is read again when one of their files changes."""

    def run(self) -> list[nodes.Node]:
        """Show them, or say what is wrong with one."""
        try:
            return self.show()
        except (GpuGuideError, OSError, IndexError, SyntaxError) as error:
            # Without this, a document that failed would count as read, and the next build would pass.
            self.env.note_reread()
            raise self.error(f"{self.name}: {error}") from None

    def show(self) -> list[nodes.Node]:
        """Build the nodes."""
        raise NotImplementedError

    def exercise(self, name: str) -> Exercise:
        """Get an exercise, and note its files."""
        exercise = pool.get(name)
        for file in _FILES:
            self.env.note_dependency(str(exercise.folder / file))
        return exercise

    def pool(self) -> list[Exercise]:
        """Get all exercises, and note the lists that they stand in."""
        self.env.note_dependency(str(pool.__file__))
        self.env.note_dependency(str(site_of(self.env).layout.pages_toml))
        return [self.exercise(name) for name in pool.names()]

    def markdown(self, exercise: Exercise, text: str) -> list[nodes.Node]:
        """Turn a text of an exercise into nodes."""
        document = new_document(str(exercise.folder / "task.md"), self.state.document.settings)
        MystParser().parse(text, document)
        return document.children

    def whole(self, exercise: Exercise) -> nodes.container:
        """Show an exercise: heading, task, start, how to check it, and folded hints and solution.

        Its identifiers are ``exercise-NAME``, ``exercise-NAME-hint-1`` and ``exercise-NAME-solution``.
        """
        name = exercise.name
        about = f"{exercise.level} · {exercise.minutes} min · checked without a GPU"
        shown = nodes.container(
            "",
            _heading(exercise),
            nodes.paragraph("", about, classes=["gg-exercise-about"]),
            *self.markdown(exercise, exercise.statement),
            _lead_in("Start from this:"),
            _code(exercise.start, "python"),
            _lead_in("Check it in a notebook:"),
            _code(check_call(exercise), "python"),
            _lead_in("Or on the command line, in a file of your own:"),
            _code(check_commands(exercise), "console"),
            ids=[exercise_id(name)],
            classes=["gg-exercise"],
        )
        for number, hint in enumerate(exercise.hints, start=1):
            hint_id = exercise_id(name, f"hint-{number}")
            shown += _fold(f"Hint {number}", hint_id, self.markdown(exercise, hint))
        solution: list[nodes.Node] = [_code(exercise.solution, "python")]
        shown += _fold("Solution", exercise_id(name, "solution"), solution)
        for part in shown.findall(nodes.container):
            if part["ids"]:
                self.state.document.set_id(part)
        # Links lead to the exercise's home, although other pages show it as well.
        home = home_of(site_of(self.env), name)
        if home is None or home.docname == self.env.docname:
            label, domain = exercise_id(name), self.env.domains.standard_domain
            domain.note_hyperlink_target(label, self.env.docname, label, exercise.title)
        return shown


def _heading(exercise: Exercise) -> nodes.rubric:
    link = nodes.reference("", "#", refid=exercise_id(exercise.name), classes=["headerlink"])
    link["reftitle"] = "Link to this exercise"
    heading = nodes.rubric("", "", nodes.Text(f"Exercise: {exercise.title}"), link)
    # Without a level Sphinx writes a rubric as a paragraph, which is no heading to a screen reader.
    heading["heading-level"] = 3
    return heading


def _lead_in(words: str) -> nodes.paragraph:
    return nodes.paragraph("", words, classes=["gg-lead-in"])


def _code(text: str, language: str) -> nodes.literal_block:
    code = text.strip("\n")
    return nodes.literal_block(code, code, language=language)


def _fold(title: str, name: str, content: list[nodes.Node]) -> nodes.Element:
    # The identifier is inside: browsers unfold what holds the target of a link, even without a script.
    return fold(title, nodes.container("", *content, ids=[name], classes=["gg-fold-target"]))


class ExerciseDirective(_ExercisesDirective):
    """``.. exercise:: NAME`` shows an exercise of the pool: task, start, how to check it, hints, solution."""

    required_arguments = 1

    def show(self) -> list[nodes.Node]:
        """Show it, or name what the pool has instead."""
        node = self.whole(self.exercise(self.arguments[0]))
        self.set_source_info(node)
        return [node]


class OtherExercisesDirective(_ExercisesDirective):
    """``.. other-exercises::`` shows, whole, the exercises that no page of the guide shows."""

    def show(self) -> list[nodes.Node]:
        """Show them in teaching order."""
        site = site_of(self.env)
        return [self.whole(exercise) for exercise in self.pool() if home_of(site, exercise.name) is None]


class PoolDirective(_ExercisesDirective):
    """``.. exercise-pool::`` lists all exercises; a script adds filters by level and subject."""

    def show(self) -> list[nodes.Node]:
        """Build the filters and the table."""
        exercises = self.pool()
        group = nodes.tgroup("", cols=len(_HEADINGS))
        group += [nodes.colspec(colwidth=width) for width in _HEADINGS.values()]
        group += nodes.thead("", nodes.row("", *(_entry(nodes.Text(text)) for text in _HEADINGS)))
        group += nodes.tbody("", *(self._row(exercise) for exercise in exercises))
        table = nodes.table("", group, classes=["gg-pool"])
        return [nodes.raw("", _filters(exercises), format="html"), table]

    def _row(self, exercise: Exercise) -> nodes.row:
        link = partial(link_to, self.env.docname)
        home = home_of(site_of(self.env), exercise.name)
        first = _entry(link("ref", exercise_id(exercise.name), exercise.title))
        first += self.markdown(exercise, exercise.teaches)
        where = link("doc", f"/{home.docname}", home.title) if home else nodes.Text("below")
        rest = (nodes.Text(exercise.level), nodes.Text(str(exercise.minutes)), where)
        classes = [f"gg-level-{exercise.level}", *(_tag_class(tag) for tag in exercise.tags)]
        return nodes.row("", first, *map(_entry, rest), classes=classes)


def _entry(content: nodes.Node) -> nodes.entry:
    return nodes.entry("", nodes.paragraph("", "", content))


def _tag_class(tag: str) -> str:
    return f"gg-tag-{nodes.make_id(tag)}"


def _filters(exercises: list[Exercise]) -> str:
    """Write the filters; they stay hidden where no script runs, and the table is whole."""
    levels = [level for level in LEVELS if any(exercise.level == level for exercise in exercises)]
    boxes = "".join(
        f'<label><input type="checkbox" value="gg-level-{level}" checked> {level}</label>' for level in levels
    )
    tags = sorted({tag for exercise in exercises for tag in exercise.tags}, key=str.lower)
    options = "".join(f'<option value="{_tag_class(tag)}">{escape(tag)}</option>' for tag in tags)
    return (
        '<form class="gg-filter" aria-label="Which exercises to list" hidden>'
        f"<fieldset><legend>Level</legend>{boxes}</fieldset>"
        f'<label>About <select><option value="">everything</option>{options}</select></label>'
        f'<output class="gg-filter-count">{len(exercises)} of {len(exercises)} exercises</output></form>'
    )


class TryItDirective(SphinxDirective):
    """``.. try-it::`` proposes a change to the code above, and says what then happens."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the box; roles work in it."""
        self.assert_has_content()
        box = nodes.admonition("", *self.parse_content_to_nodes(), classes=["gg-try"])
        lead = nodes.strong("", "Try it.", classes=["gg-try-lead"])
        next(box.findall(nodes.paragraph)).insert(0, [lead, nodes.Text(" ")])
        self.set_source_info(box)
        return [box]


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.setup_extension("sphinx_design")
    app.add_directive("exercise", ExerciseDirective)
    app.add_directive("exercise-pool", PoolDirective)
    app.add_directive("other-exercises", OtherExercisesDirective)
    app.add_directive("try-it", TryItDirective)
