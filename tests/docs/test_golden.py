"""What the built miniature guide shows: outputs, numbers, figures, a ladder, an exercise, live cells."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from mini_project import MACHINE, Project, tree, words_of

PAGES = {
    "toy": "gallery/start/toy",
    "pictures": "gallery/later/pictures",
    "live": "later/live",
    "other": "other",
    "exercise": "exercises/add_one",
    "exercises": "practice/puzzles",
    "solutions": "exercises/solutions",
    "index": "gallery/index",
    "start": "gallery/start/index",
}
# What is seen -> the page, and words of it in their order.
SHOWN = {
    "outputs of recorded cells, literally": ("toy", ("6 |not a substitution| `nor a role`_",)),
    "what a cell printed and came to": ("pictures", ("indented np.float64(0.5)",)),
    "a table made from the samples": ("toy", ("Sums (float64", "numpy 1.0 µs", "dot 4.0 µs", "dot 400 µs")),
    "a table that is folded, with its files": ("pictures", ("Table: Sums, every size", "CSV · JSON")),
    "a study that did not run": ("pictures", ("Sums variant", "numpy CPU host 8 Sum by NumPy. dot CPU")),
    "a claim, with its figures": ("toy", ("“numpy” is faster than “dot”", ": holds.", "4.0× (one machine")),
    "a rung: its kernel, its launch, and what was measured": (
        "pictures",
        ("One product", "def dot(x, out):", "print(dot(np.arange(4.0), out))", "[6.]", "400 µs"),
    ),
    "a rung with imports and a gain": (
        "pictures",
        (
            *("Two halves", "import math PARTS = 2 def halves(x, out):", "print(halves(", "[6.] True"),
            *("time on the CPU 200 µs", "gain 2.0×", "over dot"),
        ),
    ),
    "code of a topic": ("pictures", ("def sum_reference(x):", "Tested code from gpuguide.topics.toy.study")),
    "CUDA C++, and a Numba kernel with its comment and the summary of its docstring": (
        "pictures",
        (
            *('extern "C" __global__ void scale', "# Adds one. @cuda.jit def add_one_kernel(x):"),
            *('to every element of a vector.""" x[cuda', "toy.shown: SCALE_SOURCE, add_one_kernel"),
        ),
    ),
    "the way to an exercise": ("pictures", ("Exercise: Add one beginner · 5 min It teaches add_one.",)),
    "an exercise": (
        "exercise",
        (
            *("Exercise: Add one", "beginner · 5 min", "practises Toy sums", "Add one to each element"),
            *("add_kernel(x, out):", "$ gpuguide exercises check add_one", 'check("add_one", add_kernel)'),
            *("Hint 1", "Hint 2", "Solution"),
        ),
    ),
    "all exercises by section and level": (
        "exercises",
        (
            *("Start", "Add one beginner · 5 min It teaches add_one."),
            "Add two advanced · 5 min It teaches add_two.",
        ),
    ),
    "the solutions": ("solutions", ("Add one", "out[i] = x[i] + 1", "Add two")),
    "a claimed number and one of a rule": ("pictures", ("Not 10 timesclaimed by “A workshop”, not", "0.2 s")),
    "the box to try": ("pictures", ("Try it. Replace 1 with two.",)),
    "how to install": ("other", ('pip install "gpuguide[cuda13] @ https://guide.example/_static/wheels/',)),
    "where and when it was measured": (
        "toy",
        (
            *(
                "A sum is",
                "You will learn to Add numbers Read a chart",
                "1 min · beginner · measured on A CPU",
            ),
            *("· notebook · open in Colab To run it: no GPU.", "results: compared with", "script: toy.py"),
        ),
    ),
    "a course, whose minutes are added up": (
        "other",
        (
            *(
                "From What Minutes 0:00 Toy sums 1 0:01 Break 10 0:11 Pictures",
                "Exercise: Add one 5",
            ),
            *(
                "Exercise: Add two 5",
                "Questions, and time to spare",
                "1:30 End",
                "Afterwards, participants can Toy sums",
            ),
        ),
    ),
    "what a page takes and needs": (
        "pictures",
        ("exercise 5 min · beginner", "Read first: Toy sums. To run it"),
    ),
    "the same of a page written by hand": ("live", ("1 min · beginner To run it: no GPU.",)),
    "what to remember": ("pictures", ("Remember Multiply: it takes 400 µs", "Read Other.")),
    "what causes and numbers rest on": (
        "pictures",
        (
            *("How this was measured", "rest on: A row of ones would do. [counted: sum reference]"),
            *(
                "It waits. [measured: halves]",
                "what it rests on",
                "200 µs halves, time on the CPU; one machine",
            ),
        ),
    ),
    "on what its numbers were measured": (
        "pictures",
        (
            *("How this was measured", "bank conflicts 8 million 0", "CPU: A CPU, 16 logical CPUs"),
            *("recorded on: one machine start", "how to cite: The gpuguide developers, “Pictures”"),
        ),
    ),
    "where its numbers lie": ("toy", ("How this was measured", "raw files: 2026-11-21-c0ffee.json")),
    "a number of another page": ("other", ("with the pages that use a function, and 84",)),
    "what other pages came to": (
        "other",
        (
            *(
                "1 min to read",
                "Start First steps. 1 min · beginner",
                "Later Further steps. 2 p",
            ),
            *("Toy sums NumPy needs 100 µs of it.", "“numpy” is faster than “dot” at 2¹⁶"),
            "Later Pictures Multiply: it takes 400 µs. Read Other.",
        ),
    ),
    "what live cells print and come to": ("live", ("The answer is 41", "42")),
    "a finding of each page, or else its question, in the order of the list": (
        "index",
        ("Toy sums NumPy needs 100 µs of it. 1 min", "Pictures What does a drawn cell state?", "Live What"),
    ),
    "title and summary of a section": ("start", ("Start", "First steps.", "Toy sums")),
}
# What is marked -> the page, and pieces of its HTML.
MARKED = {
    "a number with its note": (
        "other",
        (
            '<span aria-describedby="gg-tip-0" class="gg-measured" tabindex="0">84<',
            'id="gg-tip-0">84; A CPU with',
        ),
    ),
    "question and answer": ("pictures", ('class="gg-question">What does', 'class="gg-answer">A fact')),
    "a cause that was counted": ("pictures", ('href="#evidence-sum-reference">[counted: ',)),
    "its code": ("pictures", ('<div class="gg-kernel docutils container" id="evidence-sum-reference">',)),
    "a cause that was measured": ("pictures", ('href="#rung-halves">[measured: ', 'id="rung-halves"')),
    "a cause that a counter shows": (
        "pictures",
        ('href="#evidence-bank-conflicts">[measured: ', 'id="evidence-bank-conflicts"'),
    ),
    "an opinion": ("pictures", ('<span class="gg-evidence">[not tested]</span>',)),
    "the way to the card": ("pictures", ('href="#how-this-was-measured"', 'id="how-this-was-measured"')),
    "CUDA C++ in a string": ("pictures", ('<span class="kr">__global__</span>',)),
    "the link to an exercise": ("pictures", ('href="../../exercises/add_one.html"',)),
    "the fold with its solution": ("exercise", ("gg-solution",)),
    "the thumbnail of a page on its tile": ("index", ("pictures_thumb.svg", "pictures_thumb-dark.svg")),
    "a chart in the lead, below its headline, above what one learns": (
        "pictures",
        ('<p class="gg-headline">The product takes', '<div class="gg-choices', '"gg-learn admonition'),
    ),
    "buttons for a chart with choices": (
        "pictures",
        (
            "<fieldset hidden><legend>bend</legend>",
            'name="gg-choices-0-0" value="0" checked> straight</label>',
            '<div class="gg-choice gg-choice-0-0 gg-shown docutils container">',
            '<div class="gg-choice gg-choice-1-1 docutils container">',
        ),
    ),
}


@pytest.fixture(scope="module")
def source(built):
    """Name of a page -> its HTML."""
    return lambda name: (built.html / f"{PAGES[name]}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("what", SHOWN)
def test_a_page_shows(what, source):
    page, parts = SHOWN[what]
    text, place = words_of(source(page)), 0
    for part in parts:
        place = text.find(part, place)
        assert place >= 0, f"{part!r} is not in {text}"


@pytest.mark.parametrize("what", MARKED)
def test_a_page_marks(what, source):
    page, parts = MARKED[what]
    assert [part for part in parts if part not in source(page)] == []


def test_a_drawing_comes_in_light_and_dark_with_its_words(source):
    images = re.findall(
        r'<img alt="([^"]*)" class="gg-drawing (only-\w+)"[^>]*/(idea[^"]*)"', source("pictures")
    )
    words = "Two boxes and a wire."
    assert images == [(words, "only-light", "idea.svg"), (words, "only-dark", "idea-dark.svg")]


def test_each_term_is_linked_where_the_prose_of_a_page_first_uses_it(source):
    """Not in headings, code and other links, and not on what is no page of the guide."""
    term = re.compile(r'glossary\.html#term-[\w-]+"><span class="xref std std-term">([^<]*)<')
    linked = [" ".join(words.split()) for words in term.findall(source("pictures"))]
    assert linked == ["warps", "Shared memory", "memory"]
    assert not term.findall(source("other"))


@pytest.mark.parametrize(
    "text",
    [
        "# draw",
        "# thumbnail",
        "thumbnail.bars",
        "Go to the end",
        "Download Python",
        "Total running time",
        "Gallery generated by",
    ],
)
def test_no_page_shows_markers_or_texts_of_sphinx_gallery(source, text):
    assert [name for name in PAGES if text in source(name)] == []


def test_figures_come_in_light_and_dark_wide_and_narrow_with_alternative_text(source):
    assert re.findall(r"recorded-figure[^>]*only-(light|dark)", source("toy")) == ["light", "dark"] * 2
    alts = re.findall(r'<img alt="([^"]*)"[^>]*only-light', source("toy"))
    assert all(len(re.findall(r"\d", alt)) >= 2 for alt in alts), alts


def test_a_chart_of_a_live_page_has_a_dark_twin(built, source):
    charts = re.findall(r'<img alt="A line\."[^>]*only-\w+"[^>]* src="([^"]+)"', source("live"))
    light, dark = ((built.html / "later" / chart).read_text() for chart in charts)
    assert "#0060b9" in light
    assert "#5aa9f5" in dark


def test_the_thumbnail_of_a_page_without_a_drawing_is_its_first_figure(built):
    images = built.layout.gallery / "start" / "images"
    for thumbnail, figure in (("", "light"), ("-dark", "dark")):
        found = images / "thumb" / f"sphx_glr_toy_thumb{thumbnail}.svg"
        assert found.read_bytes() == (images / f"toy-1-narrow-{figure}.svg").read_bytes()


def test_pages_that_use_a_function_are_known(built):
    seen = json.loads((built.layout.gallery / "backreferences" / "backreferences_all.json").read_text())
    assert any(name.endswith("plot_time") for name in seen)
    assert any(name.endswith("Results") for name in seen), sorted(seen)


def test_colab_opens_the_notebook_that_the_zip_holds(built, source):
    names = ZipFile(built.html / "_static" / "notebooks.zip").namelist()
    assert names == ["start/toy.ipynb", "later/pictures.ipynb"]
    opened = "https://colab.research.google.com/github/somebody/guide/blob/notebooks/"
    assert [f'href="{opened}{name}"' in source(page) for name, page in zip(names, PAGES, strict=False)] == [
        True,
        True,
    ]


def test_a_live_page_becomes_a_notebook_without_outputs(built, source):
    text = (built.layout.gallery / "downloads" / "live.ipynb").read_text(encoding="utf-8")
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    assert ("code", "answer + 1") in cells
    assert "The answer is 41" not in text
    assert re.search(r'href="\.\./_downloads/\w+/live\.ipynb"', source("live"))


def test_a_build_runs_no_script_and_writes_nothing_below_recorded(
    built: Project, recorded_template: Project
) -> None:
    assert not list(built.root.rglob("ran.txt"))
    assert tree(built.layout.recorded / MACHINE) == tree(recorded_template.layout.recorded / MACHINE)


def test_no_file_names_a_folder_of_the_builder(built: Project, built_template) -> None:
    folders = (built_template.project.root, Path.home(), Path(sys.prefix))
    own = re.compile("|".join(re.escape(f"{folder}/") for folder in folders).encode())
    assert [name for name, data in tree(built.html).items() if own.search(data)] == []
