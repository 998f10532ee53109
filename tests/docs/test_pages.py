"""pages.toml and scripts: what is read of them, what a wrong entry is told, and the draft of a new page."""

import re
import shutil

import pytest
from mini_project import REPOSITORY
from sphinx.errors import ExtensionError

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide_docs.commands.one_page import find_page
from gpuguide_docs.pages.cells import cells_from_blocks, read_cells
from gpuguide_docs.pages.new_page import write_page
from gpuguide_docs.pages.pages_toml import Needs, PagesError, read_pages, read_sections

LIST = "examples/pages.toml"


def test_pages_come_in_order_with_their_places(recorded_template):
    layout = recorded_template.layout
    toy, pictures, live = read_pages(layout)
    assert (toy.name, toy.topic, toy.needs, toy.machine, toy.waits) == ("toy", "toy", Needs(gpus=0), None, "")
    assert toy.docname == "gallery/start/toy"
    assert toy.source(layout) == layout.examples / "start" / "toy.py"
    assert (pictures.topic, pictures.after) == ("toy", ("toy",))
    assert live.docname == "later/live"
    assert live.source(layout) == layout.docs / "later" / "live.md"
    assert read_sections(layout)[0].summary == "First steps."


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("objectives = [", "objectivs = [", ("page 'toy'", "did you mean 'objectives'?")),
        ('after = ["toy"]', 'after = ["toys"]', ("page 'pictures': after", "did you mean 'toy'?")),
        ('exercises = ["add_one"]', 'exercises = "add_one"', ("exercises must be a list", "'add_one'")),
        ('kind = "tutorial"', 'kind = "tutorials"', ("did you mean 'tutorial'?",)),
        ('level = "beginner"', 'level = "easy"', ("'easy'", "beginner, intermediate, advanced")),
        ('level = "beginner"\n', "", ("page 'toy'", "level missing")),
        ("gpus = 0", "gpus = true", ("page 'toy'", "gpus must be an integer")),
        ("gpus = 0", "gpus = 0, gib = -4", ("gib must be a number, zero or more",)),
        ('section = "start"', 'section = "begin"', ("'begin'", "start, later")),
        ('name = "toy"', 'name = "Toy"', ("lower-case",)),
        ('name = "pictures"', 'name = "toy"', ("'toy'", "stands twice")),
        ('kind = "how_to"', 'kind = "tutorial"', ("page 'live'", "so it is a script")),
        ("[[page]]", "[[pages]]", ("did you mean 'page'?",)),
        ("[[page]]", "[[page]", ("is not valid TOML",)),
    ],
)
def test_a_wrong_entry_is_named_with_what_is_allowed(recordable, old, new, words):
    recordable.edit(LIST, old, new)
    with pytest.raises(PagesError) as caught:
        read_pages(recordable.layout)
    for each in words:
        assert each in str(caught.value)


def test_one_page_is_built_by_its_name(recorded_template):
    """Scripts, pages written by hand, and those beside the sections; the nearest name where there is none."""
    layout = recorded_template.layout
    for name, docname in (("toy", "gallery/start/toy"), ("live", "later/live")):
        source, html = find_page(layout, name)
        assert source.with_suffix("") == layout.docs.relative_to(layout.root) / docname
        assert str(html) == f"docs/_build/html/{docname}.html"
    with pytest.raises(UnknownNameError, match="'toy'"):
        find_page(layout, "tyo")


# Cells

PAGE = '''"""
Title
=====

Question?
"""

# %%
# Text.

# wrong: no synchronisation
x = 1

# %%

# draw
gg.plot_time(results)

# %%

# only a comment

# %%

# draw: the second
y = 2

# %%

z = 3
'''


def test_cells_are_told_apart_by_their_first_line_and_numbered_among_their_kind(tmp_path):
    page = tmp_path / "page.py"
    page.write_text(PAGE)
    cells = read_cells(page)
    kinds = ["text 0", "text 1", "recorded 0", "drawn 0", "comment 0", "drawn 1", "recorded 1"]
    assert [f"{cell.kind} {cell.index}" for cell in cells] == kinds
    assert cells[2].is_wrong
    assert PAGE.splitlines()[cells[2].lineno] == "# wrong: no synchronisation"


def test_text_on_the_line_of_a_mark_is_an_error(tmp_path):
    page = tmp_path / "page.py"
    page.write_text(PAGE.replace("# %%\n# Text.", "# %% Text that\n# nobody sees."))
    with pytest.raises(ExtensionError, match=r"page\.py, line 8: 'Text that' would be dropped"):
        read_cells(page)


@pytest.mark.parametrize("code", ["# drawing\nx = 1", "x = 1\n# draw", "# draw2\nx = 1"])
def test_only_the_mark_itself_makes_a_drawn_cell(code):
    (cell,) = cells_from_blocks([("code", code, 1)])
    assert cell.kind == "recorded"


# A new page

TESTS = ("conftest.py", "compile_lane.py")


def test_a_draft_runs_and_passes_its_test_and_lacks_what_lint_names(recordable):
    project = recordable
    index = project.layout.docs / "api" / "index.rst"
    index.parent.mkdir()
    index.write_text("Topics\n\n   topics.toy\n\nOther\n")
    write_page(project.layout, "shared_memory", "start")
    assert [page.name for page in read_pages(project.layout)] == ["toy", "shared_memory", "pictures", "live"]
    assert "   topics.toy\n   topics.shared_memory\n\n" in index.read_text()
    for name in TESTS:
        (project.root / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / "tests" / name, project.root / "tests" / name)
    shutil.copy(REPOSITORY / "pyproject.toml", project.root)
    for command in (
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/topics/test_shared_memory.py"),
        (
            "ruff",
            "check",
            "--ignore",
            "INP001",
            "examples/start/shared_memory.py",
            "src/gpuguide/topics/shared_memory",
        ),
        ("gpuguide_docs.commands.preview", "shared_memory"),
    ):
        ran = project.run("-m", *command)
        assert ran.code == 0, ran.output
    ran = project.run("-m", "gpuguide_docs.lint", "shared_memory")
    assert ran.code == 1, ran.output
    problems = re.findall(r"^  (no exercise|\d measured numbers|line \d+)", ran.output, re.M)
    assert sorted(problems) == ["2 measured numbers", "no exercise"]


@pytest.mark.parametrize(
    ("name", "section", "words"),
    [
        ("toy", "start", "'toy'"),
        ("Two words", "start", "lower-case"),
        ("class", "start", "Python module"),
        ("new", "strat", "'start'"),
        ("left", "start", r"test_left\.py exists already"),
    ],
)
def test_nothing_is_written_under_a_name_that_is_taken_or_none(recordable, name, section, words):
    left = recordable.root / "tests" / "topics" / "test_left.py"
    left.parent.mkdir(parents=True)
    left.write_text("assert True\n")
    before = (recordable.root / LIST).read_text()
    with pytest.raises((ArgumentError, UnknownNameError), match=words):
        write_page(recordable.layout, name, section)
    assert (recordable.root / LIST).read_text() == before
    assert not recordable.layout.script("start", "left").exists()
