"""Outputs become reST in which nothing acts."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from gpuguide_docs.replay.outputs import (
    Output,
    Picture,
    admonition,
    literal,
    raw_html,
    read_outputs,
    save_outputs,
)

HOSTILE = [
    ".. include:: /etc/passwd",
    "text\n\n.. raw:: html\n\n   <script>",
    "a\x0b.. include:: /etc/passwd",
    "a\x0c\x1c\x1d\x1e\x85\u2028\u2029.. raw:: html",
    "\x85.. include:: x",
    ":class: other\n\n:name: other",
    ">>> 1/0",
    "   indented\n    more",
    "|substitution| `role`_ **strong** :measured:`x`",
    "\\",
    "tab\there",
]


def parse(rst: str) -> nodes.document:
    settings = {
        "report_level": 2,
        "halt_level": 2,
        "raw_enabled": True,
        "file_insertion_enabled": False,
        "syntax_highlight": "none",
    }
    return publish_doctree(f"Title\n=====\n\nBefore.\n{rst}\nAfter.\n", settings_overrides=settings)


@pytest.mark.parametrize("text", HOSTILE)
def test_printed_text_stays_one_literal_block(text):
    document = parse(literal(text))
    kinds = [type(child) for child in document.children if not isinstance(child, nodes.title)]
    assert kinds == [nodes.paragraph, nodes.literal_block, nodes.paragraph]


def test_leading_blanks_that_all_lines_share_are_kept():
    block = next(parse(literal("    a\n      b")).findall(nodes.literal_block))
    assert block.astext() == "    a\n      b"


def test_colours_are_dropped_and_control_characters_shown_as_such():
    block = next(parse(literal("\x1b[31mred\x1b[0m\x00")).findall(nodes.literal_block))
    assert block.astext() == "red\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_blank_text_gives_no_block(text):
    assert literal(text) == ""


@pytest.mark.parametrize("html", ["<p>a</p>\n\n.. include:: x", "<p>a\x85.. raw:: html</p>"])
def test_markup_cannot_leave_its_directive(html):
    document = parse(raw_html(html))
    kinds = [type(child) for child in document.children if not isinstance(child, nodes.title)]
    assert kinds == [nodes.paragraph, nodes.raw, nodes.paragraph]


@pytest.mark.parametrize(
    "text", ["`x`_ *y* |z|", "- a", "1. b", ":field: c", "d::", ".. e:", "a_ b__", "f\n\n.. raw:: html"]
)
def test_words_of_a_banner_are_plain(text):
    document = parse(admonition("Title", [text], "warning"))
    (box,) = document.findall(nodes.admonition)
    assert [type(child) for child in box.children] == [nodes.title, nodes.paragraph]
    assert box.children[1].astext() == " ".join(text.split())


def test_outputs_survive_being_kept(tmp_path):
    outputs = (Output("a", "<b>c</b>", (Picture(b"<svg/>", "alt"),)), None, Output())
    save_outputs(tmp_path, outputs)
    assert read_outputs(tmp_path) == outputs


def test_our_own_tables_and_figures_are_read_back(tmp_path):
    from matplotlib.figure import Figure

    from gpuguide.charts.style import save_svg
    from gpuguide.results.sample import sample_results

    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 2], [3, 4], label="a < b & c")
    axes.imshow([[1, 2], [3, 4]])
    axes.legend()
    table = sample_results().table().html()
    outputs = (Output("\x1b[1ma\x1b[0m\x0b", table, (Picture(save_svg(figure), "<b>"),)),)
    save_outputs(tmp_path, outputs)
    (back,) = read_outputs(tmp_path)
    assert (back.html, back.pictures) == (table, outputs[0].pictures)
    assert literal(back.stdout) == literal(outputs[0].stdout)
