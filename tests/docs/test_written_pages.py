"""Pages written by hand stand in the one list: in indexes and navigation, with a byline, unmeasured."""

import re
import shutil

import pytest
from mini_project import Project, Snapshot
from test_record_replay import assert_incremental_equals_clean, built_ok

ENTRY = """
[[page]]
section = "start"
name = "install"
title = "Install"
question = "How do you get it?"
kind = "how_to"
format = "myst"
level = "beginner"
needs = { gpus = 0 }
objectives = ["Install it", "See that it works"]

"""
ALONE = (
    ENTRY.replace('"start"', '"alone"').replace('"install"', '"puzzles"').replace('"Install"', '"Puzzles"')
)
SECTION = '[[section]]\nname = "alone"\ntitle = "Alone"\nsummary = "No script here."\n\n'
INSTALL = """\
# Install

How do you get it?

Take the wheel.

Then wait.

```{exercise} add_one
```
"""


def with_written_pages(project: Project) -> Project:
    """Give a project two pages written by hand, one of them in a section of its own."""
    list_text = (project.root / "examples/pages.toml").read_text()
    sections, first, rest = list_text.partition("[[page]]")
    text = sections + SECTION + ENTRY.lstrip() + first + rest
    text += ALONE + 'after = ["toy"]\ntop_bar = true\n'
    (project.root / "examples/pages.toml").write_text(text)
    for name, words in (
        ("start/install", INSTALL),
        (
            "alone/puzzles",
            "# Puzzles\n\nHow do you get it?\n\n```{exercise-pool}\n```\n\n```{other-exercises}\n```\n",
        ),
    ):
        path = project.layout.docs / f"{name}.md"
        path.parent.mkdir()
        path.write_text(words)
    project.edit("docs/index.rst", "   other\n", "   other\n   Puzzles <alone/puzzles>\n")
    project.edit(
        "examples/pages.toml",
        'objectives = ["Install it"',
        'exercises = ["add_one"]\nobjectives = ["Install it"',
    )
    return project


@pytest.fixture(scope="module")
def built_pages(make_project) -> Snapshot:
    """A copy that is built once."""
    project = with_written_pages(make_project())
    built_ok(project)
    return Snapshot.of(project)


@pytest.fixture
def project(built_pages) -> Project:
    """It, to change and build again."""
    return built_pages.restored()


@pytest.fixture(scope="module")
def shared(built_pages) -> Project:
    """It, not to be changed."""
    return built_pages.kept


def page(project: Project, name: str) -> str:
    return (project.html / f"{name}.html").read_text(encoding="utf-8")


def test_it_stands_in_its_section_in_teaching_order(shared):
    for index, toy in (("gallery/index", "start/toy.html"), ("gallery/start/index", "toy.html")):
        html = page(shared, index)
        written = re.search(r'href="(?:\.\./)+start/install\.html"', html)
        assert written
        assert written.start() < html.index(f'href="{toy}"')
        # What is not measured has no finding, so its question stands there.
        tile = re.search(
            r'<div class="gg-tile docutils container">(?:(?!</div>).)*start/install.*?</div>', html, re.DOTALL
        )
        assert '<p class="gg-tile-finding">How do you get it?</p>' in tile[0]
        assert '<p class="gg-tile-about">1 min · beginner</p>' in tile[0]
    assert "No script here." in page(shared, "gallery/alone/index")
    # Next and previous follow the one list, across both kinds of page.
    assert 'title="Toy sums"' in re.search(r"<a[^>]*>next</a>", page(shared, "start/install")).group()


def test_its_byline_promises_and_measures_nothing(shared):
    html = page(shared, "start/install")
    assert '<p class="gg-question">How do you get it?</p>' in html
    assert '<p class="gg-answer">Take the wheel.</p>' in html
    assert "<p>Then wait.</p>" in html
    byline = html[html.index("gg-byline") : html.index("Then wait.")]
    assert "1 min, exercise 5 min · needs no GPU" in byline
    assert "measured" not in byline
    assert "notebook" not in byline
    assert "gg-measured-card" not in html
    assert 'after <a class="reference internal" href="../gallery/start/toy.html">' in page(
        shared, "alone/puzzles"
    )


def test_an_exercise_leads_from_the_pool_to_its_page(shared):
    html = page(shared, "alone/puzzles")
    assert 'href="../start/install.html#exercise-add-one"' in html
    assert 'id="exercise-add-two"' in html
    assert 'id="exercise-add-one"' in page(shared, "start/install")


def test_an_unchanged_build_reads_nothing(project):
    ran = project.run("-m", "sphinx", "-c", ".", "-d", "docs/_build/doctrees", "docs", "docs/_build/html")
    assert "0 added, 0 changed, 0 removed" in ran.output


def test_each_change_is_shown_by_the_next_build_and_all_equal_a_clean_one(project):
    """An edited exercise renews the pages that show it, and no page shows one that is gone."""
    for file, old, new in (
        ("add_one/task.md", "Add *one*", "Kindly add *one*"),
        ("add_two/task.md", "Look at", "Look hard at"),
        ("add_one/exercise.py", "It teaches add_one.", "It teaches to add."),
    ):
        project.edit(f"src/gpuguide/exercises/pool/{file}", old, new)
    built_ok(project)
    assert "Kindly add" in page(project, "start/install")
    assert "Look hard at" in page(project, "alone/puzzles")
    assert "It teaches to add." in page(project, "alone/puzzles")
    text = (project.root / "examples/pages.toml").read_text()
    (project.root / "examples/pages.toml").write_text(text[: text.rindex("[[page]]")])
    shutil.rmtree(project.layout.docs / "alone")
    project.edit("docs/index.rst", "   Puzzles <alone/puzzles>\n", "")
    built_ok(project)
    assert not (project.layout.gallery / "alone" / "index.rst").exists()
    assert "No script here." not in page(project, "gallery/index")
    assert_incremental_equals_clean(project)


def test_a_wrong_exercise_fails_each_build(project):
    project.edit("docs/start/install.md", "add_one", "add_none")
    for _ in range(2):
        ran = project.build()
        assert ran.code != 0
        assert "exercise: Unknown exercise 'add_none'" in ran.output
