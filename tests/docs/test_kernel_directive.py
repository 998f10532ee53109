"""Directives that show code, tables, captions and drawings."""

import re

import pytest
from small_site import TOPIC, build, page, recording

from gpuguide_docs.replay.states import PageState
from gpuguide_docs.show.kernel import ModuleSource

HEAD = "First page\n==========\n\nWhat is measured?\n\n"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>'


def shown(tmp_path, monkeypatch, body, state="current", **files):
    pages = {"docs/index.rst": "Index\n=====\n\nHello.\n", "docs/gallery/start/first.rst": HEAD + body}
    states = {"first": PageState("first", state, recording(tmp_path))}
    _, warnings = build(tmp_path, {**pages, **files}, states, monkeypatch)
    return page(tmp_path, "gallery/start/first"), warnings


def plain(html):
    return re.sub(r"<[^>]+>", "", html)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "gpuguide" / "topics" / "toy.py"
    path.parent.mkdir(parents=True)
    path.write_text(TOPIC, encoding="utf-8")
    return ModuleSource(tmp_path, "gpuguide.topics.toy")


def test_a_definition_is_cut_with_decorator_and_comment(source):
    assert source.cut("add_one_kernel") == (
        "# Adds one.\n@decorate\ndef add_one_kernel(x):\n"
        '    """Each thread adds one."""\n    for i in range(len(x)):\n        x[i] += 1'
    )
    assert source.cut("WIDTH") == "WIDTH = 256"


def test_of_a_long_docstring_the_summary_is_kept(source):
    assert source.cut("add_one").splitlines()[1:4] == [
        '    """Add one to every element',
        '    of a vector."""',
        "    blocks = blocks_1d(len(x), WIDTH)",
    ]


def test_the_imports_that_a_definition_needs(source):
    assert source.needed(["add_one", "add_one_kernel"]) == [
        "import math",
        "import numpy as np",
        "from gpuguide.machine.launch import blocks_1d",
        "from gpuguide.topics.toy import WIDTH, decorate",
    ]


def test_the_directive_shows_tested_code(tmp_path, monkeypatch):
    body = ".. kernel:: gpuguide.topics.toy\n   :names: add_one_kernel, add_one\n"
    html, warnings = shown(tmp_path, monkeypatch, body)
    assert warnings == ""
    assert '<div class="gg-kernel docutils container">' in html
    assert "def add_one_kernel(x):" in plain(html)
    assert "Tested code from gpuguide.topics.toy: add_one_kernel, add_one" in plain(html)
    assert "Parameters" not in plain(html)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (".. kernel:: gpuguide.topics.toi\n", "Unknown module 'gpuguide.topics.toi'. Did you mean"),
        (
            ".. kernel:: gpuguide.topics.toy\n   :names: add_on\n",
            "Unknown name in gpuguide.topics.toy: 'add_on'",
        ),
        (".. kernel:: gpuguide.topics.toy\n   :names:\n", "write the names to show"),
        (".. results:: sampel\n", "results: Unknown study 'sampel'. Did you mean 'sample'?"),
        (".. drawing:: hots\n\n   Words.\n", "Unknown drawing 'hots'. Did you mean 'host'?"),
        (".. drawing:: host\n", "say under it, indented, what the drawing shows"),
    ],
)
def test_an_unknown_name_is_an_error_each_time(tmp_path, monkeypatch, body, message):
    files = {f"docs/_static/drawings/{name}.svg": SVG for name in ("host", "host-dark")}
    for _ in range(2):
        _, warnings = shown(tmp_path, monkeypatch, body, **files)
        assert message in warnings


def test_a_table_is_folded_with_its_files(tmp_path, monkeypatch):
    html, warnings = shown(tmp_path, monkeypatch, ".. results:: sample\n")
    assert warnings == ""
    assert '<details class="gg-fold gg-results">' in html
    assert "Table: An invented study, every size</summary>" in html
    assert '<table class="gpuguide-results">' in html
    assert re.findall(r"_downloads/\w+/(first-[\w.]+)", html) == ["first-sample.csv", "first-sample.json"]


def test_a_stale_study_is_not_shown(tmp_path, monkeypatch):
    html, warnings = shown(tmp_path, monkeypatch, ".. results:: sample\n", state="stale")
    assert warnings == ""
    assert "gpuguide-results" not in html
    assert '<span class="gg-unmeasured">not measured yet</span>: the code changed' in html


def test_a_finding_is_a_caption_with_roles(tmp_path, monkeypatch):
    body = ".. finding::\n\n   Numba takes :measured:`sample[numba, 2**20].time`.\n"
    html, warnings = shown(tmp_path, monkeypatch, body)
    assert warnings == ""
    assert '<p class="gg-finding">Numba takes <span' in html


def test_a_drawing_comes_light_and_dark(tmp_path, monkeypatch):
    files = {f"docs/_static/drawings/{name}.svg": SVG for name in ("host", "host-dark")}
    html, warnings = shown(
        tmp_path, monkeypatch, ".. drawing:: host\n\n   Two boxes\n   and a wire.\n", **files
    )
    assert warnings == ""
    images = re.findall(r'<img alt="([^"]*)" class="([^"]*)"[^>]* src="[^"]*/(host[^"]*)"', html)
    assert images == [
        ("Two boxes and a wire.", "gg-drawing only-light", "host.svg"),
        ("Two boxes and a wire.", "gg-drawing only-dark", "host-dark.svg"),
    ]


@pytest.mark.parametrize(
    ("style", "scrolls"), [("", True), ("<style>@media (max-width: 500px) {}</style>", False)]
)
def test_a_drawing_without_a_form_for_phones_scrolls_there(tmp_path, monkeypatch, style, scrolls):
    svg = SVG.replace("/>", f">{style}</svg>")
    assert style in svg
    files = {f"docs/_static/drawings/{name}.svg": svg for name in ("host", "host-dark")}
    html, _ = shown(tmp_path, monkeypatch, ".. drawing:: host\n\n   Two boxes.\n", **files)
    assert ("gg-chart" in html) is scrolls
