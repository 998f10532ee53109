"""Exercises: a page for each, their list, the solutions, the way there from lessons; the box ``try-it``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError
from gpuguide.exercises import pool
from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.pages.pages_toml import LEVELS, read_sections
from gpuguide_docs.show.site import link_to, site_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sphinx.application import Sphinx

    from gpuguide.exercises.model import Exercise
    from gpuguide_docs.show.site import Site

__all__ = [
    "ExerciseDirective",
    "TryItDirective",
    "about_words",
    "check_call",
    "check_commands",
    "exercise_files",
    "setup",
]

#: Folder below ``docs`` that holds nothing else.
_FOLDER = "exercises"
# Searches are for exercises, and the code here would answer many of them.
_SOLUTIONS = """\
---
nosearch: true
---
# Solutions

One right answer to each exercise; others pass, too. `gpuguide exercises show guard --solution` prints one.
"""
_FILES = ("exercise.py", "task.md", "start.py", "solution.py")


def about_words(exercise: Exercise) -> str:
    """Say for whom an exercise is, and how long it takes."""
    return f"{exercise.level} · {exercise.minutes} min"


def check_call(exercise: Exercise) -> str:
    """Return the Python that checks an answer in a session: an import and a call."""
    call = f'gpuguide.exercises.check("{exercise.name}", {exercise.function_name})'
    return f"import gpuguide.exercises\n\n{call}"


def check_commands(exercise: Exercise) -> str:
    """Return the commands that write the start and check it, each after a prompt."""
    name = exercise.name
    return f"$ gpuguide exercises start {name}\n$ gpuguide exercises check {name}"


# Pages that the build writes ------------------------------------------------------------------------------


def exercise_files(site: Site, *, solutions: bool) -> dict[Path, str]:
    """Write out the pages of the exercises, their list, and unless they are left out, the solutions."""
    exercises = [pool.get(name) for name in pool.names()]
    folder = site.layout.docs / _FOLDER
    files = {folder / f"{exercise.name}.md": _page(exercise, site, solutions) for exercise in exercises}
    # Sphinx takes no text file for a page: the overview includes this one.
    files[folder / "list.txt"] = "\n".join(_list(exercises, site, solutions))
    if solutions:
        files[folder / "solutions.md"] = "\n".join([_SOLUTIONS, *map(_solution, exercises)])
    return files


def _solution(exercise: Exercise) -> str:
    return f"({_label(exercise)})=\n## {_link(exercise)}\n\n{_code('python', exercise.solution)}"


def _page(exercise: Exercise, site: Site, solutions: bool) -> str:
    lessons = ", ".join(f"{{doc}}`/{page.docname}`" for page in map(site.page, exercise.pages))
    hints = [
        f"::::{{dropdown}} Hint {number}\n{hint}\n::::\n" for number, hint in enumerate(exercise.hints, 1)
    ]
    byline = f"{about_words(exercise)} · checked without a GPU · practises {lessons}"
    parts = [
        f"# Exercise: {exercise.title}\n",
        f":::{{container}} gg-byline\n{byline}\n:::\n",
        f"{exercise.statement}\n",
        f"## Start from this\n\n{_start(exercise)}",
        f"## Check your answer\n\n{_where(exercise)} in the file that the first command writes:\n",
        _code("console", check_commands(exercise)),
        f"In a notebook:\n\n{_code('python', check_call(exercise))}",
        "{doc}`/practice/puzzles` says how to install the package and how to read what the check says.\n",
        "## Hints\n",
        *hints,
        *([_solution_fold(exercise)] if solutions else []),
    ]
    return "\n".join(parts)


def _start(exercise: Exercise) -> str:
    code = _code("python", exercise.start)
    if not exercise.in_page:
        return code
    return f"::::{{editor}} check {exercise.name}\n{code}::::\n"


def _where(exercise: Exercise) -> str:
    """Say where to check an answer, and why there is no editor."""
    if exercise.in_page:
        return "On the command line,"
    return "This exercise needs NumPy, so it is checked on your computer: on the command line,"


def _solution_fold(exercise: Exercise) -> str:
    code = _code("python", exercise.solution)
    return f"::::{{dropdown}} Solution\n:class-container: gg-solution\n\n{code}::::\n"


def _list(exercises: list[Exercise], site: Site, solutions: bool) -> Iterator[str]:
    """List the exercises by the section of the first page that each practises, and by level."""
    sections: dict[str, list[Exercise]] = {}
    for exercise in sorted(exercises, key=lambda exercise: LEVELS.index(exercise.level)):
        sections.setdefault(site.page(exercise.pages[0]).section, []).append(exercise)
    for section in read_sections(site.layout):
        if section.name in sections:
            members = sections[section.name]
            yield f"### {section.title}\n"
            for each in members:
                yield f"{_link(each)} [{about_words(each)}]{{.gg-exercise-about}}\n: {each.teaches}\n"
            entries = [f"{each.title} <{_docname(each)}>" for each in members]
            yield _toctree(section.title, entries)
    if solutions:
        yield _toctree("Answers", [f"/{_FOLDER}/solutions"])


def _docname(exercise: Exercise) -> str:
    return f"/{_FOLDER}/{exercise.name}"


def _label(exercise: Exercise) -> str:
    return f"solution-{exercise.name.replace('_', '-')}"


def _link(exercise: Exercise) -> str:
    return f"{{doc}}`{exercise.title} <{_docname(exercise)}>`"


def _code(language: str, text: str) -> str:
    code = text.strip("\n")
    return f"```{language}\n{code}\n```\n"


def _toctree(caption: str, entries: list[str]) -> str:
    lines = "\n".join(entries)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"


def _write(app: Sphinx) -> None:
    # A draft is one page.
    if app.config.gpuguide_draft:
        return
    files = exercise_files(site_of(app.env), solutions=app.config.gpuguide_solutions)
    for path, text in files.items():
        write_if_changed(path, text)
    for path in app.srcdir.glob(f"{_FOLDER}/*"):
        if path not in files:
            path.unlink()


# What pages show ------------------------------------------------------------------------------------------


class ExerciseDirective(SphinxDirective):
    """``.. exercise:: NAME`` leads to the page of an exercise, and says what it is about."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show a box with a link, or name what the pool has instead."""
        try:
            exercise = pool.get(self.arguments[0])
        except GpuGuideError as error:
            # Without this, a document that failed would count as read, and the next build would pass.
            self.env.note_reread()
            raise self.error(f"{self.name}: {error}") from None
        # The page shows little of them, and its notebook all.
        for file in _FILES:
            self.env.note_dependency(str(exercise.folder / file))
        link = link_to(self.env.docname, "doc", _docname(exercise), f"Exercise: {exercise.title}")
        about = nodes.inline("", about_words(exercise), classes=["gg-exercise-about"])
        # Every other part is code.
        words = [
            nodes.literal("", part) if at % 2 else nodes.Text(part)
            for at, part in enumerate(exercise.teaches.split("`"))
        ]
        box = nodes.container(
            "",
            nodes.paragraph("", "", link, nodes.Text(" "), about),
            nodes.paragraph("", "", *words),
            classes=["gg-exercise"],
        )
        self.set_source_info(box)
        return [box]


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
    """Register the directives, and write the pages before Sphinx looks for them."""
    app.setup_extension("sphinx_design")
    # A teacher may leave them out. Notebooks have them as well, so all pages are read again.
    app.add_config_value("gpuguide_solutions", True, "env", bool)
    app.add_directive("exercise", ExerciseDirective)
    app.add_directive("try-it", TryItDirective)
    # After the site is known (100).
    app.connect("builder-inited", _write, priority=200)
