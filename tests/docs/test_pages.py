"""pages.toml: what is read, and what a wrong entry is told."""

import re

import pytest

from gpuguide.errors import UnknownNameError
from gpuguide_docs.commands.one_page import find_page
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.pages_toml import Needs, PagesError, read_pages, read_sections

SECTION = """
[[section]]
name = "start"
title = "Start"
summary = "Where to begin."
"""
PAGE = """
[[page]]
section = "start"
name = "{name}"
title = "Sorting"
question = "Who sorts faster?"
kind = "tutorial"
level = "beginner"
needs = {{ gpus = 1, gib = 4 }}
objectives = ["Sort on the GPU", "Count the copies"]
{more}
"""


def write(tmp_path, *pages, section=SECTION):
    """A project with these pages, each (name, more) or text."""
    layout = Layout(tmp_path)
    layout.examples.mkdir(exist_ok=True)
    text = section + "".join(PAGE.format(name=name, more=more) for name, more in pages)
    layout.pages_toml.write_text(text, encoding="utf-8")
    return layout


def test_pages_come_in_order_with_their_defaults(tmp_path):
    layout = write(tmp_path, ("first", ""), ("second", 'after = ["first"]\ntopic = "other"'))
    first, second = read_pages(layout)
    assert (first.name, first.topic, first.machine, first.waits) == ("first", "first", None, "")
    assert first.needs == Needs(gpus=1, gib=4)
    assert (second.after, second.topic) == (("first",), "other")
    assert first.docname == "gallery/start/first"
    assert first.script(layout) == layout.examples / "start" / "first.py"
    assert read_sections(layout)[0].summary == "Where to begin."


def test_a_page_written_by_hand_lies_below_docs(tmp_path):
    more = 'format = "myst"\ntop_bar = true'
    layout = write(tmp_path, ("first", ""), ("second", more))
    text = layout.pages_toml.read_text()
    head, _, last = text.rpartition('kind = "tutorial"')
    layout.pages_toml.write_text(f'{head}kind = "how_to"{last}')
    first, second = read_pages(layout)
    assert (first.format, first.top_bar) == ("script", False)
    assert first.source(layout) == first.script(layout)
    assert second.docname == "start/second"
    assert second.source(layout) == layout.docs / "start" / "second.md"
    assert second.top_bar


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("objectivs = 3", "page 'sorting': key: 'objectivs' is not one of"),
        ("objectivs = 3", "did you mean 'objectives'?"),
        ('after = ["sort"]', "page 'sorting': after: 'sort' is not one of sorting; did you mean 'sorting'?"),
        ('tags = "gpu"', "page 'sorting': tags must be a list of texts, and is 'gpu'"),
        ("waits = ''", "waits must be a text that is not empty"),
        (
            'format = "mist"',
            "page 'sorting': format: 'mist' is not one of script, myst; did you mean 'myst'?",
        ),
        ('format = "myst"', "a page of kind 'tutorial' shows outputs of a GPU, so it is a script"),
        ("top_bar = 1", "top_bar must be true or false, and is 1"),
        ("minutes = 3", "page 'sorting': key: 'minutes' is not one of"),
    ],
)
def test_a_wrong_key_is_named_with_what_is_allowed(tmp_path, more, message):
    with pytest.raises(PagesError, match=re.escape(message)):
        read_pages(write(tmp_path, ("sorting", more)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "tutorial"', 'kind = "tutorials"', "did you mean 'tutorial'?"),
        ('level = "beginner"', 'level = "easy"', "'easy' is not one of beginner, intermediate, advanced"),
        ("gpus = 1", "gpus = true", "gpus must be an integer, zero or more, and is True"),
        ('level = "beginner"', "", "page 'sorting': level missing"),
        ("gpus = 1, ", "", "page 'sorting': needs: gpus missing"),
        ("gib = 4", "gib = -4", "gib must be a number, zero or more"),
        ('section = "start"', 'section = "begin"', "'begin' is not one of start"),
        ('name = "sorting"', 'name = "Sorting"', "name must be lower-case"),
        ("[[page]]", "[[pages]]", "did you mean 'page'?"),
        ("[[page]]", "[[page]", "is not valid TOML"),
        ("[[page]]", "a = " + "[" * 5_000, "nested at most 32 deep"),
        ("[[page]]", ".".join("a" * 50_000) + " = 1", "keys of at most 16 parts, got 50000"),
    ],
)
def test_a_wrong_value_is_refused(tmp_path, old, new, message):
    layout = write(tmp_path, ("sorting", ""))
    layout.pages_toml.write_text(layout.pages_toml.read_text().replace(old, new))
    with pytest.raises(PagesError, match=re.escape(message)):
        read_pages(layout)


def test_a_name_stands_once(tmp_path):
    with pytest.raises(PagesError, match="stands twice"):
        read_pages(write(tmp_path, ("a", ""), ("a", "")))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PagesError, match=r"pages\.toml is missing"):
        read_pages(Layout(tmp_path))


def test_one_page_is_built_by_its_name(tmp_path):
    """Scripts, pages written by hand, and those beside the sections; the nearest name where there is none."""
    layout = write(tmp_path, ("first", ""), ("second", 'format = "myst"'))
    text = layout.pages_toml.read_text()
    layout.pages_toml.write_text(text[::-1].replace('"tutorial"'[::-1], '"how_to"'[::-1], 1)[::-1])
    layout.docs.mkdir()
    (layout.docs / "glossary.md").touch()
    for name, docname in (
        ("first", "gallery/start/first"),
        ("second", "start/second"),
        ("glossary", "glossary"),
    ):
        source, html = find_page(layout, name)
        assert source.with_suffix("") == layout.docs.relative_to(tmp_path) / docname
        assert str(html) == f"docs/_build/html/{docname}.html"
    with pytest.raises(UnknownNameError, match="'first'"):
        find_page(layout, "frist")
