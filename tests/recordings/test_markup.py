"""The allow-lists of recorded text, HTML and figures: what passes, and all that must not."""

from __future__ import annotations

import pytest

from gpuguide.errors import RecordingError
from gpuguide.recordings.markup import check_html, check_png, check_svg, check_text, clean_svg, plain_text

GOOD_HTML = [
    "",
    "plain text & an ampersand > all right",
    "<table class=\"results\"><caption>µ</caption><tr><th>n</th><td colspan='2'>1</td></tr></table>",
    "<details open><summary>more</summary><p>a<br>b<br/>c</p></details>",
    "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
]
BAD_HTML = {
    "script": "<script>alert(1)</script>",
    "script in capitals": "<SCRIPT>alert(1)</SCRIPT>",
    "event handler": '<p onmouseover="alert(1)">x</p>',
    "handler without quotes": "<p onclick=alert(1)>x</p>",
    "handler after a slash": '<p/onclick="alert(1)">x</p>',
    "image": "<img src=x onerror=alert(1)>",
    "never closed tag": "<table><tr><td>x</td></tr></table><img src=x onerror=alert(1) ",
    "split tag": "<scr<script>ipt>",
    "link": '<a href="javascript:alert(1)">x</a>',
    "style element": "<style>body { display: none }</style>",
    "style attribute": '<p style="position: fixed">x</p>',
    "frame": '<iframe src="//example.org"></iframe>',
    "form": "<form action='//example.org'></form>",
    "id": '<p id="content">x</p>',
    "comment": "<!-- x --><p>x</p>",
    "conditional comment": "<!--[if IE]><script></script><![endif]-->",
    "declaration": "<!DOCTYPE html>",
    "processing instruction": "<?php x ?>",
    "CDATA": "<![CDATA[<script>]]>",
    "svg": "<svg><script/></svg>",
    "math": "<math><mtext></mtext></math>",
    "template": "<template><p>x</p></template>",
    "lone less-than": "a < b",
    "closing what is not open": "</div><p>x</p>",
    "crossing": "<b><i>x</b></i>",
    "left open": "<div><p>x</p>",
    "control character": "<p>\x00</p>",
    "attribute with less-than": '<p title="<b>">x</p>',
    "no space between attributes": '<p class="a"onclick="b">x</p>',
}


@pytest.mark.parametrize("html", GOOD_HTML)
def test_plain_html_passes(html: str) -> None:
    check_html(html)


@pytest.mark.parametrize("html", BAD_HTML.values(), ids=BAD_HTML)
def test_other_html_is_refused_by_file_and_field(html: str) -> None:
    with pytest.raises(RecordingError, match=r"^transcript\.json: cells\[1\]\.html: ") as caught:
        check_html(html, file="transcript.json", field="cells[1].html")
    assert (caught.value.file, caught.value.field) == ("transcript.json", "cells[1].html")


def svg(inside: str, attributes: str = "") -> bytes:
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {names} {attributes}>{inside}</svg>".encode()


GOOD_SVG = [
    svg('<g id="a" style="fill: none; stroke: #0060b9" clip-path="url(#p1)"><path d="M 0 0"/></g>'),
    svg('<use xlink:href="#DejaVuSans-41" x="1"/><use href="#b"/>'),
    svg('<image width="1" height="1" xlink:href="data:image/png;base64,iVBORw0KGgo="/>'),
    svg("<defs><style type='text/css'>*{stroke-linejoin: round}</style></defs><!-- a label -->"),
    svg(
        "<text xml:space='preserve'>script: javascript, onload=&lt;b&gt;</text>".replace("javascript", "java")
    ),
    b'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n' + svg("<title>T</title>"),
]
BAD_SVG = {
    "script": svg("<script>alert(1)</script>"),
    "script of another prefix": svg('<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>'),
    "html script": svg('<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>'),
    "script in metadata": svg("<metadata><script>alert(1)</script></metadata>"),
    "handler": svg("<path onclick='alert(1)'/>"),
    "handler of the root": svg("", "onload='alert(1)'"),
    "handler in metadata": svg("<metadata onclick='alert(1)'></metadata>"),
    "handler of a description": svg(
        "<metadata><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' onclick='f()'/></metadata>"
    ),
    "foreign object": svg("<foreignObject><p/></foreignObject>"),
    "link": svg("<a href='https://example.org'><path/></a>"),
    "script link": svg("<use xlink:href='javascript:alert(1)'/>"),
    "external use": svg("<use xlink:href='https://example.org/x.svg#a'/>"),
    "external image": svg("<image href='https://example.org/x.png'/>"),
    "svg in an image": svg("<image href='data:image/svg+xml;base64,PHN2Zz4='/>"),
    "animation": svg("<set attributeName='href' to='javascript:alert(1)'/>"),
    "base": svg("<use xml:base='https://example.org/' href='#a'/>"),
    "external style": svg("<path style='fill: url(https://example.org/x)'/>"),
    "imported style": svg("<style>@import 'https://example.org/x.css';</style>"),
    "style in pieces": svg("<style>*{fill: url&#40;https://example.org/x)}</style>"),
    "style around an element": svg("<style>*{fill: u<title/>rl(x)}</style>").replace(b"<title/>", b"<b/>"),
    "escaped style": svg(r"<path style='fill: \75rl(x)'/>"),
    "document type": b"<!DOCTYPE svg>" + svg(""),
    "entity": b'<!DOCTYPE svg [<!ENTITY a "b">]>' + svg("&a;"),
    "billion laughs": b'<!DOCTYPE svg [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>' + svg("&c;"),
    "processing instruction": b'<?xml-stylesheet href="x.css"?>' + svg(""),
    "CDATA": svg("<text><![CDATA[<script>]]></text>"),
    "comment that HTML ends early": svg("<!--><script>alert(1)</script>-->"),
    "not svg": b"<html xmlns='http://www.w3.org/1999/xhtml'/>",
    "no namespace": b"<svg/>",
    "not well-formed": svg("<g>"),
    "empty": b"",
    "not UTF-8": svg("").replace(b"<svg", b"<svg class='\xff'", 1),
    "not UTF-8 in a comment": svg("<!-- x -->").replace(b"x", b"\xc0\xaf"),
    "UTF-16": b"\xff\xfe" + svg("<script/>").decode().encode("utf-16-le"),
    "other encoding": b'<?xml version="1.0" encoding="utf-7"?>' + svg("+ADw-script/+AD4-<script/>"),
    "too deep": svg("<g>" * 200 + "</g>" * 200),
    "second root": svg("") + svg(""),
}


@pytest.mark.parametrize("data", GOOD_SVG)
def test_drawings_pass(data: bytes) -> None:
    check_svg(data)


@pytest.mark.parametrize("data", BAD_SVG.values(), ids=BAD_SVG)
def test_svg_that_acts_is_refused_by_file(data: bytes) -> None:
    with pytest.raises(RecordingError, match=r"^figure\.svg: ") as caught:
        check_svg(data, file="figure.svg")
    assert caught.value.file == "figure.svg"


def test_figures_of_matplotlib_pass_once_cleaned() -> None:
    import io

    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.add_subplot()
    ax.imshow(np.eye(4))
    ax.fill_between([0, 1], [1, 2], hatch="//", label="a<b & 'c'")
    ax.annotate("x > 1", (0, 0), (1, 1), arrowprops={"arrowstyle": "->"})
    ax.legend()
    ax.set_title(r"$\frac{1}{x^2}$")
    for settings in ({}, {"metadata": {"Date": None, "Creator": None}}):
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", **settings)
        with pytest.raises(RecordingError, match="document type"):
            check_svg(buffer.getvalue())
        check_svg(clean_svg(buffer.getvalue()))


@pytest.mark.parametrize(
    "character", ["\x00", "\x0b", "\x0c", "\r", "\x1b", "\x1c", "\x85", "\u2028", "\u202e", "\ud800"]
)
def test_text_that_breaks_out_of_its_block_is_refused(character: str) -> None:
    with pytest.raises(RecordingError, match=r"^f: g: .*at 3\.$"):
        check_text(f"one{character}two", file="f", field="g")


def test_every_line_break_of_python_but_one_is_refused() -> None:
    """A literal block is indented line by line: no text may hold a line that the writer does not see."""
    for code in range(0x11000):
        character = chr(code)
        if len(f"a{character}b".splitlines()) > 1 and character != "\n":
            with pytest.raises(RecordingError):
                check_text(character)


def test_captured_output_becomes_plain() -> None:
    assert (
        plain_text("\x1b[31mred\x1b[0m\r\n 1 %\r 99 %\r100 %\rdone\n\x07\u2028") == "red\ndone\n\ufffd\ufffd"
    )
    check_text(plain_text("".join(map(chr, range(0x3000)))))


def test_png_is_told_by_its_bytes() -> None:
    check_png(b"\x89PNG\r\n\x1a\n....\x00\x00\x00\x00IEND\xaeB`\x82")
    with pytest.raises(RecordingError, match="expected a PNG"):
        check_png(b"<svg/>")
