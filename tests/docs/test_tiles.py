"""Tiles of pages, rows of sections and the list of findings: what other pages say of a page."""

from __future__ import annotations

import re

import pytest
from docutils import nodes
from mini_project import Project

from gpuguide_docs.replay.figures import shown_drawing
from gpuguide_docs.show.numbers import number_node
from gpuguide_docs.show.tiles import finding_in

ANSWER = "# A sum is quick.\n"
MEASURED = "# A sum is quick. *NumPy* needs :measured:`sums[numpy, 65536].time` of it. More.\n"
PLACES = """\
.. section-rows::

.. all-findings::

It takes :minutes:`toy` to read.
"""


def measured(text, kind="gg-measured"):
    return number_node("", text, nodes.inline("", "a tip"), classes=[kind])


def said(*parts):
    found = finding_in([nodes.paragraph("", "", *parts)])
    return "".join(part.astext() for part in found)


def test_the_finding_is_the_first_sentence_with_a_measured_number():
    words = (nodes.Text("It is quick. It takes "), number_node("", "3 ms"), nodes.Text(" alone. And so on."))
    assert said(*words) == "It takes 3 ms alone."


@pytest.mark.parametrize("kind", ["gg-unmeasured", ""])
def test_without_a_measured_number_there_is_no_finding(kind):
    numbers = [number_node("", "not measured yet", classes=[kind])] if kind else []
    assert said(nodes.Text("It takes "), *numbers, nodes.Text(".")) == ""


def test_a_finding_has_no_links_and_no_evidence():
    evidence = nodes.inline("", "[counted]")
    evidence["evidence"] = "count"
    link = nodes.reference("", "warps", refid="warp")
    paragraph = nodes.paragraph(
        "",
        "",
        nodes.Text("Its "),
        link,
        nodes.Text(" take "),
        number_node("", "3 ms"),
        nodes.Text(". "),
        evidence,
    )
    found = finding_in([paragraph])
    assert "".join(part.astext() for part in found) == "Its warps take 3 ms."
    assert not [part for part in found if isinstance(part, nodes.reference)]


@pytest.mark.parametrize(
    "text", ["# .. drawing:: idea\n", ".. drawing:: idea\n", "```{drawing} idea\n", ":::{drawing} idea"]
)
def test_the_drawing_of_a_page_is_the_first_that_is_there(tmp_path, text):
    folder = tmp_path / "_static" / "drawings"
    folder.mkdir(parents=True)
    (folder / "idea.svg").write_text("<svg/>")
    assert shown_drawing(f"Words\n# .. drawing:: none\n{text}\n", tmp_path) == "idea"
    assert shown_drawing("See drawing:: idea", tmp_path) == ""


@pytest.fixture
def project(built_template) -> Project:
    return built_template.restored()


def page(project, name):
    return (project.html / f"{name}.html").read_text(encoding="utf-8")


def test_tiles_and_rows_say_what_the_page_does_and_follow_it(project):
    folder = project.layout.docs / "_static" / "drawings"
    folder.mkdir(parents=True)
    for name in ("idea", "idea-dark"):
        (folder / f"{name}.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}"/>')
    drawing = "#\n# .. drawing:: idea\n#\n#     An idea.\n"
    project.edit("examples/start/toy.py", ANSWER, MEASURED + drawing)
    project.edit("docs/other.rst", "A page written", f"{PLACES}\nA page written")
    ran = project.build("-j", "2")
    assert ran.code == 0, ran.output
    finding = r'<p class="gg-tile-finding">NumPy needs <strong>[\d.]+ (?:ns|µs|ms)</strong> of it\.</p>'
    for name in ("gallery/index", "gallery/start/index", "other"):
        html = page(project, name)
        assert re.search(finding, html), name
        assert '<p class="gg-tile-about">1 min · beginner</p>' in html
    # A page without a number has its question there, and a section its summary.
    assert "What does a drawn cell state?" in page(project, "gallery/later/index")
    rows = page(project, "other")
    assert "Further steps." in rows
    assert "It takes <span>1 min</span> to read." in rows
    found = rows[rows.index("gg-found") :]
    assert "is faster than" in found
    assert re.search(r" at 2[⁰¹²³⁴-⁹]+ ", found)
    # The thumbnail is the drawing of the page.
    thumbs = project.layout.gallery / "start" / "images" / "thumb"
    assert (thumbs / "sphx_glr_toy_thumb.svg").read_bytes() == (folder / "idea.svg").read_bytes()
    html = page(project, "gallery/start/index")
    shown = re.findall(r'<img alt="" class="(only-\w+)"[^>]* src="[./]*_images/([\w-]+\.svg)"', html)
    assert shown == [("only-light", "idea.svg"), ("only-dark", "idea-dark.svg")]
    # A tile follows its page, and shows nothing that the page cannot show any more.
    project.edit("examples/start/toy.py", "of it. More", "of time. More")
    assert project.build().code == 0
    assert " of time.</p>" in page(project, "gallery/start/index")
    project.edit("examples/start/toy.py", "np.arange(4)", "np.arange(5)")
    assert project.build().code == 0
    html = page(project, "gallery/start/index")
    assert " of time." not in html
    assert "How long does a sum take?</p>" in html
