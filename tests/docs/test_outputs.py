"""Outputs become reST in which nothing acts."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from gpuguide_docs.replay.outputs import (
    Output,
    Picture,
    admonition,
    literal,
    read_outputs,
    save_outputs,
)

ODD = [
    "text\n\n.. raw:: html\n\n   <b>",
    "a form feed\x0c.. include:: x",
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


@pytest.mark.parametrize("text", ODD)
def test_printed_text_stays_one_literal_block(text):
    document = parse(literal(text))
    kinds = [type(child) for child in document.children if not isinstance(child, nodes.title)]
    assert kinds == [nodes.paragraph, nodes.literal_block, nodes.paragraph]


def test_leading_blanks_that_all_lines_share_are_kept():
    block = next(parse(literal("    a\n      b")).findall(nodes.literal_block))
    assert block.astext() == "    a\n      b"


def test_colours_are_dropped():
    block = next(parse(literal("\x1b[31mred\x1b[0m")).findall(nodes.literal_block))
    assert block.astext() == "red"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_blank_text_gives_no_block(text):
    assert literal(text) == ""


@pytest.mark.parametrize(
    "text", ["`x`_ *y* |z|", "- a", "1. b", ":field: c", "d::", ".. e:", "a_ b__", "f\n\n.. raw:: html"]
)
def test_words_of_a_banner_are_plain(text):
    document = parse(admonition("Title", [text], "warning"))
    (box,) = document.findall(nodes.admonition)
    assert [type(child) for child in box.children] == [nodes.title, nodes.paragraph]
    assert box.children[1].astext() == " ".join(text.split())


def test_outputs_survive_being_kept(tmp_path):
    pictures = (Picture(b"<svg/>", "alt"), Picture(b"<svg></svg>", "", b"<svg/>"))
    outputs = (Output("a\r\n", "<b>c</b>", pictures), None, Output())
    save_outputs(tmp_path, outputs)
    assert read_outputs(tmp_path) == outputs
