"""Byline, objectives and card: put on a gallery page without being asked."""

import re

from small_site import build, page, recording

from gpuguide_docs.replay.states import PageState

INDEX = {"docs/index.rst": "Index\n=====\n\nHello.\n"}
FIRST = """
First page
==========

What is measured?

..
   outputs digest

.. GENERATED FROM PYTHON SOURCE LINES 7-9

The answer.

More of the answer.

.. GENERATED FROM PYTHON SOURCE LINES 10-12

Not the answer.

A section
---------

Text.
"""


def text_of(html):
    """The text of a page's body, blanks joined."""
    body = html[html.index('<div class="body"') : html.index("sphinxsidebar")]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def built(tmp_path, monkeypatch, state=None, **files):
    (tmp_path / "examples" / "start").mkdir(parents=True, exist_ok=True)
    (tmp_path / "examples" / "start" / "first.py").touch()
    pages = {"docs/gallery/start/first.rst": FIRST, "docs/gallery/start/second.rst": FIRST, **files}
    state = state or PageState("first", "current", recording(tmp_path))
    _, warnings = build(tmp_path, {**INDEX, **pages}, {"first": state}, monkeypatch)
    assert warnings == ""
    return page(tmp_path, "gallery/start/first")


def test_the_byline_stands_under_the_answer(tmp_path, monkeypatch):
    text = text_of(built(tmp_path, monkeypatch))
    byline = (
        "15 min · needs 1 GPU, 4 GB | measured on NVIDIA H200, 21 November 2026, results checked, details "
        "| notebook · script You will Read a number Doubt it Not the answer."
    )
    assert f"The answer. More of the answer. {byline}" in text


def test_question_and_answer_are_marked(tmp_path, monkeypatch):
    html = built(tmp_path, monkeypatch)
    assert '<p class="gg-question">What is measured?</p>' in html
    assert '<p class="gg-answer">More of the answer.</p>' in html
    assert "<p>Not the answer.</p>" in html


def test_the_card_is_last_and_details_opens_it(tmp_path, monkeypatch):
    html = built(tmp_path, monkeypatch)
    assert '<a class="reference internal" href="#how-this-was-measured">details</a>' in html
    card = html[html.index('<details class="gg-fold gg-measured-card">') :]
    assert card.index("How this was measured</summary>") < card.index('id="how-this-was-measured"')
    text = " ".join(re.sub(r"<[^>]+>", " ", card).split())
    for said in (
        "compute capability : 9.0",
        "SMs : 132",
        "clocks : SM 1.98 GHz, memory 3.2 GHz",
        "power limit : 700 W",
        "ECC : on",
        "driver : 580.159",
        "versions : numpy 2.4.6, cupy 14.2",
        "CPU : Some CPU, 16 logical CPUs, 16 threads",
        "date : 2026-11-21 10:00:00 UTC",
        "measuring key : 0123456789abcdef",
        "run time : 12.5 s",
        "run.json · measurements.json",
        "how to cite : The gpuguide developers, “First page”",
    ):
        assert said in text
    assert "steal time" not in text


def test_downloads_are_linked(tmp_path, monkeypatch):
    html = built(tmp_path, monkeypatch)
    links = re.findall(r'href="[./]*_downloads/\w+/([\w.]+)"', html)
    assert links == ["first.ipynb", "first.py", "run.json", "measurements.json"]


def test_a_later_page_links_the_earlier_one(tmp_path, monkeypatch):
    built(tmp_path, monkeypatch)
    html = page(tmp_path, "gallery/start/second")
    assert 'after <a class="reference internal" href="first.html">' in html
    assert "10 min · after First page · needs no GPU | not measured yet : this page was never" in text_of(
        html
    )
    assert "gg-measured-card" not in html


def test_a_stale_page_shows_no_provenance(tmp_path, monkeypatch):
    state = PageState("first", "stale", recording(tmp_path), ("topic",))
    html = built(tmp_path, monkeypatch, state)
    assert "NVIDIA H200" not in html
    assert "gg-measured-card" not in html
    assert "not measured yet" in text_of(html)


def test_directives_choose_another_place(tmp_path, monkeypatch):
    moved = FIRST.replace("Text.", ".. measured-card::\n\n.. byline::\n\nText.")
    text = text_of(built(tmp_path, monkeypatch, **{"docs/gallery/start/first.rst": moved}))
    places = [text.index(part) for part in ("A section", "How this was measured", "15 min", "Text.")]
    assert places == sorted(places)
    assert text.count("15 min") == 1


def test_a_hand_written_page_has_no_byline(tmp_path, monkeypatch):
    files = {"docs/index.rst": "Index\n=====\n\n.. byline::\n"}
    _, warnings = build(tmp_path, files, {}, monkeypatch)
    assert "byline: only a page of examples/pages.toml has one" in warnings
    assert "gg-byline" not in page(tmp_path, "index")
