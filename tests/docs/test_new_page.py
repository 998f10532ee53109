"""The draft of a page: it runs, its test is green, and lint says what is missing."""

import re
import shutil

import pytest
from mini_project import REPOSITORY

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide_docs.pages.new_page import write_page
from gpuguide_docs.pages.pages_toml import read_pages

TESTS = ("conftest.py", "compile_lane.py", "topics/spoiled.py", "topics/topic_sizes.py")


def test_a_draft_runs_and_passes_its_test_and_lacks_what_lint_names(project):
    write_page(project.layout, "shared_memory", "start")
    for name in TESTS:
        (project.root / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / "tests" / name, project.root / "tests" / name)
    shutil.copy(REPOSITORY / "pyproject.toml", project.root)
    ran = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/topics/test_shared_memory.py")
    assert ran.code == 0, ran.output
    written = (
        str(project.root / folder)
        for folder in ("examples/start/shared_memory.py", "src/gpuguide/topics/shared_memory")
    )
    ran = project.run("-m", "ruff", "check", "--ignore", "INP001", *written)
    assert ran.code == 0, ran.output
    ran = project.run("-m", "gpuguide_docs.commands.preview", "shared_memory")
    assert ran.code == 0, ran.output
    ran = project.run("-m", "gpuguide_docs.lint", "shared_memory")
    assert ran.code == 1, ran.output
    problems = re.findall(r"^  (no exercise|\d measured numbers|line \d+)", ran.output, re.M)
    assert sorted(problems) == ["2 measured numbers", "no exercise"]


def test_a_draft_stands_last_in_its_section_and_after_its_neighbour_in_the_reference(project):
    index = project.layout.docs / "api" / "index.rst"
    index.parent.mkdir(exist_ok=True)
    index.write_text("Topics\n\n   topics.toy\n\nOther\n")
    write_page(project.layout, "second", "start")
    write_page(project.layout, "third", "start")
    assert [page.name for page in read_pages(project.layout)] == ["toy", "second", "third", "pictures"]
    listed = [line.strip() for line in index.read_text().splitlines() if line.startswith("   topics.")]
    assert listed == ["topics.toy", "topics.second", "topics.third"]


@pytest.mark.parametrize(
    ("name", "section", "error", "message"),
    [
        ("toy", "start", ArgumentError, "There is a page 'toy'"),
        ("Two words", "start", ArgumentError, "lower-case letters, digits and '_'"),
        ("class", "start", ArgumentError, "its topic is a Python module"),
        ("new", "strat", UnknownNameError, "Did you mean 'start'"),
    ],
)
def test_nothing_is_written_under_a_name_that_is_taken_or_none(project, name, section, error, message):
    before = project.layout.pages_toml.read_text()
    with pytest.raises(error, match=message):
        write_page(project.layout, name, section)
    assert project.layout.pages_toml.read_text() == before


def test_what_is_left_of_another_page_is_not_overwritten(project):
    left = project.root / "tests" / "topics" / "test_new.py"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("assert True\n")
    with pytest.raises(ArgumentError, match=r"tests/topics/test_new\.py exists already"):
        write_page(project.layout, "new", "start")
    assert not project.layout.script("start", "new").exists()
    assert left.read_text() == "assert True\n"
