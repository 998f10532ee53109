"""Glossary terms are linked at their first use, on the pages of the guide."""

import re
from pathlib import Path

import pytest
from small_site import build, page, recording

from gpuguide_docs.replay.states import PageState

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


def built(root: Path, monkeypatch: pytest.MonkeyPatch, name: str = "gallery/start/first") -> str:
    """The body of a page of this name, and no warning in its build."""
    _, warnings = build(
        root,
        {
            f"docs/{name}.rst": FIRST.replace("`first_call`", "`first:first_call`"),
            "docs/glossary.rst": GLOSSARY,
        },
        {"first": PageState("first", "current", recording(root))},
        monkeypatch,
        more=("sphinx_design", "gpuguide_docs.show.glossary_links"),
        root_doc="glossary",
    )
    assert warnings == ""
    return page(root, name)


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
    typed = built(tmp_path / "typed", monkeypatch)
    link = re.compile(r'<a [^>]*#term-warp">.*?</a>')
    assert link.findall(made) == link.findall(typed) != []


def test_other_pages_are_left_alone(tmp_path, monkeypatch):
    assert links(built(tmp_path, monkeypatch, "other")) == [("block", "block")]
