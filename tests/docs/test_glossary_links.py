"""Glossary terms are linked at their first use, on pages that follow the rules of lessons."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_site import build, page, recording

from gpuguide_docs.pages.pages_toml import Page
from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show.glossary_links import glossary_terms

GLOSSARY = """\
Glossary
========

.. glossary::

   warp
     32 threads.

   shared memory
     Fast.

   memory
     Slow.

   L2 cache
     In between.

   block
     Of threads.

   grid
     All blocks.
"""

FIRST = """\
First page: a warp
==================

What is a warp?

The answer: ``warp`` and `a warp elsewhere <https://warp.example>`_, with :measured:`first_call` of *two
warps*, the third warp, and Shared
memory before memory. A block.

A grid of warps
---------------

.. dropdown:: Hint

   A grid, and an l2 cache.

- The grid, and blocks.

A :term:`block <block>` of the author's.
"""


def built(root: Path, monkeypatch: pytest.MonkeyPatch, *, lesson: bool = True) -> str:
    """The first page's body, and no warning in its build."""
    if lesson:
        monkeypatch.setattr(Page, "is_lesson", property(lambda page: page.name == "first"))
    _, warnings = build(
        root,
        {"docs/gallery/start/first.rst": FIRST, "docs/glossary.rst": GLOSSARY},
        {"first": PageState("first", "current", recording(root))},
        monkeypatch,
        more=("sphinx_design", "gpuguide_docs.show.glossary_links"),
        root_doc="glossary",
    )
    assert warnings == ""
    return page(root, "gallery/start/first")


def links(html: str) -> list[tuple[str, str]]:
    """Entry and words of each link into the glossary."""
    found = re.findall(r'href="[./]*glossary\.html#term-([\w-]+)"><span class="([^"]*)">([^<]*)<', html)
    assert {classes for _, classes, _ in found} <= {"xref std std-term"}
    return [(term, " ".join(words.split())) for term, _, words in found]


def test_each_term_is_linked_where_the_prose_first_uses_it(tmp_path, monkeypatch):
    assert links(built(tmp_path, monkeypatch)) == [
        ("warp", "warps"),
        ("shared-memory", "Shared memory"),
        ("memory", "memory"),
        ("L2-cache", "l2 cache"),
        ("grid", "grid"),
        ("block", "block"),
    ]


def test_what_is_open_comes_before_what_is_folded(tmp_path, monkeypatch):
    html = built(tmp_path, monkeypatch)
    assert "#term-grid" not in html[html.index("<details") : html.index("</details>")]


def test_headings_code_and_other_links_stay(tmp_path, monkeypatch):
    html = built(tmp_path, monkeypatch)
    for heading in re.findall(r"<h[12]>.*?</h[12]>", html, re.DOTALL):
        assert "glossary" not in heading
    assert re.search(r'<p class="gg-question">What is a warp\?</p>', html)
    assert '<span class="pre">warp</span></code>' in html
    assert 'href="https://warp.example">a warp elsewhere</a>' in html


def test_a_link_is_the_one_that_the_role_makes(tmp_path, monkeypatch):
    made = built(tmp_path, monkeypatch)
    role = FIRST.replace("*two\nwarps*", "two\n:term:`warps <warp>`")
    monkeypatch.setattr("test_glossary_links.FIRST", role)
    monkeypatch.setattr(Page, "is_lesson", property(lambda page: False))
    typed = built(tmp_path / "typed", monkeypatch, lesson=False)
    link = re.compile(r'<a [^>]*#term-warp">.*?</a>')
    assert link.findall(made) == link.findall(typed) != []


def test_other_pages_are_left_alone(tmp_path, monkeypatch):
    assert links(built(tmp_path, monkeypatch, lesson=False)) == [("block", "block")]


def test_only_the_key_of_a_page_turns_it_on():
    is_lesson = Page.is_lesson.fget
    assert is_lesson(SimpleNamespace(rules="lesson"))
    assert not is_lesson(SimpleNamespace(rules="former"))
    assert not is_lesson(SimpleNamespace(rules=Page.rules))


def test_the_terms_are_those_that_sphinx_finds(tmp_path, monkeypatch):
    text = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    app, warnings = build(
        tmp_path,
        {"docs/glossary.md": text},
        {},
        monkeypatch,
        more=("myst_parser",),
        root_doc="glossary",
        source_suffix={".md": "markdown"},
        myst_enable_extensions=["colon_fence"],
    )
    known = [name for kind, name in app.env.domains.standard_domain.objects if kind == "term"]
    assert "warp" in known, warnings
    assert glossary_terms(text) == known
    assert glossary_terms(GLOSSARY) == ["warp", "shared memory", "memory", "L2 cache", "block", "grid"]
