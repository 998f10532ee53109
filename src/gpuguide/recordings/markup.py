"""Which text and HTML a recording may hold: allow-lists, so that nothing in it can act in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

from gpuguide.errors import RecordingError

__all__ = ["check_html", "check_png", "check_svg", "check_text", "clean_svg", "plain_text"]


_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_XML = "http://www.w3.org/XML/1998/namespace"
#: Inside <metadata> Matplotlib says what made the figure; these vocabularies cannot act.
_METADATA = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://creativecommons.org/ns#",
    "http://purl.org/dc/elements/1.1/",
)
_WORDS = re.compile(r"[\w-]+")
_TAGS = frozenset(
    _WORDS.findall(
        """circle clipPath defs desc ellipse g image line linearGradient marker mask metadata path pattern
        polygon polyline radialGradient rect stop style svg symbol text textPath title tspan use"""
    )
)
_ATTRIBUTES = frozenset(
    _WORDS.findall(
        """class clip-path clip-rule clipPathUnits color cx cy d dominant-baseline dx dy fill fill-opacity
        fill-rule font-family font-size font-style font-weight fx fy gradientTransform gradientUnits height id
        image-rendering lang letter-spacing marker-end marker-mid marker-start markerHeight markerUnits
        markerWidth mask maskUnits offset opacity orient overflow pathLength patternTransform patternUnits
        points preserveAspectRatio r refX refY role rotate rx ry shape-rendering space spreadMethod stop-color
        stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
        stroke-miterlimit stroke-opacity stroke-width style text-anchor textLength transform type
        vector-effect version viewBox visibility width x x1 x2 y y1 y2"""
    )
)
_LOCAL_HREF = re.compile(r"#[\w.:-]+")
_PICTURE_HREF = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]*")
#: url(...) may only point into the drawing; the others are the ways in which CSS loads or runs something.
_CSS_ACTS = re.compile(
    r"url\((?!['\"]?#)|@|\\|/\*|expression|javascript:|behavior|-moz-binding|image-set", re.IGNORECASE
)
_DOCTYPE = re.compile(rb"<!DOCTYPE\s+svg\b[^<>\[\]]*>\n?")


def check_svg(data: bytes, *, file: str = "") -> None:
    """Refuse SVG that does more than draw.

    Parameters
    ----------
    data : bytes
        The file, UTF-8.
    file : str
        Its name, for the message.

    Raises
    ------
    RecordingError
        For anything that is not on the lists: scripts, event handlers, animation, foreign elements,
        links, document types, entities, styles that load something.

    Examples
    --------
    >>> check_svg(b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M 0 0"/></svg>')
    >>> check_svg(b'<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', file="figure.svg")
    Traceback (most recent call last):
    gpuguide.errors.RecordingError: figure.svg: line 1: the element <script> is not allowed in a figure.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise RecordingError(f"expected well-formed XML; {error}.", file=file) from None
    except ValueError as error:
        raise RecordingError(f"line {reader.parser.CurrentLineNumber}: {error}", file=file) from None


class _Reader:
    """Expat with a handler for everything that could act; a ValueError says what is not allowed."""

    def __init__(self) -> None:
        # The encoding given here overrides the one that the file declares.
        self.parser = parser = expat.ParserCreate("UTF-8", " ")
        self.path: list[str] = []
        self.text: list[str] = []
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self.text.append
        parser.CommentHandler = self._comment
        parser.StartDoctypeDeclHandler = lambda *_: _refuse("a document type")
        parser.EntityDeclHandler = lambda *_: _refuse("an entity")
        parser.ProcessingInstructionHandler = lambda *_: _refuse("a processing instruction")
        parser.StartCdataSectionHandler = lambda: _refuse("a CDATA section")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, tag = name.rpartition(" ")
        described = "metadata" in self.path
        if not self.path and (namespace, tag) != (_SVG, "svg"):
            raise ValueError(f"expected <svg> of the namespace {_SVG}; got <{tag}>.")
        if not (namespace in _METADATA if described else namespace == _SVG and tag in _TAGS):
            _refuse(f"the element <{tag}>")
        if len(self.path) > 100:
            raise ValueError("elements are nested more than 100 deep.")
        for attribute, value in attributes.items():
            if not (described and attribute.startswith(_METADATA)):
                _check_attribute(tag, attribute, value)
        self.path.append(tag)
        self.text.clear()

    def _end(self, _: str) -> None:
        if self.path.pop() == "style":
            _check_css("".join(self.text))  # whole: expat hands text over in pieces

    def _comment(self, text: str) -> None:
        # HTML ends a comment at "<!-->" where XML does not: inlined, the rest would be markup.
        if "<" in text or ">" in text:
            _refuse("a comment with '<' or '>'")


def _check_attribute(tag: str, name: str, value: str) -> None:
    namespace, _, local = name.rpartition(" ")
    if local == "href" and namespace in ("", _XLINK):
        if not (_LOCAL_HREF.fullmatch(value) or (tag == "image" and _PICTURE_HREF.fullmatch(value))):
            _refuse(f"the link {value[:40]!r} of <{tag}>")
    elif namespace not in ("", _XML) or local not in _ATTRIBUTES:
        _refuse(f"the attribute {local!r} of <{tag}>")
    else:
        _check_css(value)


def _check_css(text: str) -> None:
    found = _CSS_ACTS.search(text)
    if found:
        _refuse(f"{text[found.start() : found.start() + 40]!r} in a style")


def _refuse(what: str) -> None:
    raise ValueError(f"{what} is not allowed in a figure.")


def clean_svg(data: bytes) -> bytes:
    """Drop the document type that Matplotlib writes, the one thing of its figures that is not allowed.

    Parameters
    ----------
    data : bytes
        A figure of our own.

    Returns
    -------
    bytes
        The same drawing.

    Examples
    --------
    >>> clean_svg(b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd"><svg/>')
    b'<svg/>'
    """
    return _DOCTYPE.sub(b"", data, count=1)


def check_png(data: bytes, *, file: str = "") -> None:
    """Refuse a file that is not a PNG.

    Parameters
    ----------
    data : bytes
        The file.
    file : str
        Its name, for the message.

    Raises
    ------
    RecordingError
        If it does not begin and end as PNG files do.

    Examples
    --------
    >>> check_png(b"GIF89a", file="figure.png")
    Traceback (most recent call last):
    gpuguide.errors.RecordingError: figure.png: expected a PNG; got a file that begins with b'GIF89a'.
    """
    if not (data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82")):
        raise RecordingError(f"expected a PNG; got a file that begins with {data[:8]!r}.", file=file)


_WORDS_markup = re.compile(r"[\w-]+")
_TAGS_markup = frozenset(
    _WORDS_markup.findall(
        """b br caption code col colgroup dd details div dl dt em h4 h5 h6 hr i kbd li ol p pre s samp small
        span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr"""
    )
)
_VOID = frozenset({"br", "col", "hr", "wbr"})
_ATTRIBUTES_markup = frozenset(
    _WORDS_markup.findall(
        """aria-hidden aria-label border class colspan dir headers lang open role rowspan scope span start
        title"""
    )
)
_TOKEN = re.compile(
    r"""(?P<text>[^<]+)
    | </(?P<close>[A-Za-z][A-Za-z0-9]*)[ \t\n]*>
    | <(?P<open>[A-Za-z][A-Za-z0-9]*)
       (?P<attributes>(?:[ \t\n]+[A-Za-z-]+(?:="[^"<]*"|='[^'<]*')?)*)[ \t\n]*/?>""",
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([A-Za-z-]+)(?:="[^"]*"|='[^']*')?""")

#: Controls but newline and tab, line breaks that only some programs know, reordering marks, surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def check_text(text: str, *, file: str = "", field: str = "") -> None:
    r"""Refuse text that could break out of the block it is shown in.

    Parameters
    ----------
    text : str
        Any text of a recording.
    file, field : str
        Where it stands, for the message.

    Raises
    ------
    RecordingError
        If it holds a control character other than newline and tab, a line break that only some programs
        take for one, or a character that reorders what is shown.

    Examples
    --------
    >>> check_text(".. include:: /etc/passwd")  # reST is text as any other: it is never parsed
    >>> check_text("one\x0ctwo", file="run.json", field="page")
    Traceback (most recent call last):
    gpuguide.errors.RecordingError: run.json: page: expected printable text; got U+000C at 3.
    """
    found = _UNSAFE.search(text)
    if found:
        place = f"U+{ord(found.group()):04X} at {found.start()}"
        raise RecordingError(f"expected printable text; got {place}.", file=file, field=field)


def plain_text(text: str) -> str:
    r"""Make captured output fit for a recording.

    Parameters
    ----------
    text : str
        What a cell wrote, possibly with colours and progress bars of a terminal.

    Returns
    -------
    str
        Without colours; of a line that was written over, what remained; with no character that
        `check_text` refuses.

    Examples
    --------
    >>> plain_text("10 %\r100 %\r\ndone\x1b[0m")
    '100 %\ndone'
    """
    lines = _ANSI.sub("", text).split("\n")
    shown = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", shown)


def check_html(html: str, *, file: str = "", field: str = "") -> None:
    """Refuse HTML other than plain tables, lists and text.

    A strict grammar of our own stands in for an HTML parser: what is not written exactly as it wants is
    refused, so that no browser can read it differently.

    Parameters
    ----------
    html : str
        A fragment: balanced elements, quoted attributes, ``<`` in text written ``&lt;``.
    file, field : str
        Where it stands, for the message.

    Raises
    ------
    RecordingError
        Names the element, attribute or place that is not allowed.

    Examples
    --------
    >>> check_html("<table class='results'><tr><td>3.5 µs</td></tr></table>")
    >>> check_html("<p onclick='f()'>text</p>", file="transcript.json", field="cells[2].html")
    Traceback (most recent call last):
    gpuguide.errors.RecordingError: transcript.json: cells[2].html: the attribute 'onclick' of <p> is not \
allowed in recorded HTML.
    """
    check_text(html, file=file, field=field)
    try:
        _check_balance(_tags(html))
    except ValueError as error:
        raise RecordingError(str(error), file=file, field=field) from None


def _tags(html: str) -> Iterator[tuple[str, bool]]:
    """Yield the name of each tag and whether it opens; raise ValueError for what is not allowed."""
    position = 0
    while position < len(html):
        token = _TOKEN.match(html, position)
        if token is None:
            got = f"{html[position : position + 40]!r} at {position}"
            raise ValueError(f"expected a plain tag, or '&lt;' for the character '<'; got {got}.")
        position = token.end()
        name = (token["open"] or token["close"] or "").lower()
        if name:
            _check_tag(name, token["attributes"] or "")
            yield name, token["open"] is not None


def _check_tag(name: str, attributes: str) -> None:
    if name not in _TAGS_markup:
        raise ValueError(f"the element <{name}> is not allowed in recorded HTML.")
    for attribute in _ATTRIBUTE.findall(attributes):
        if attribute.lower() not in _ATTRIBUTES_markup:
            raise ValueError(f"the attribute {attribute!r} of <{name}> is not allowed in recorded HTML.")


def _check_balance(tags: Iterator[tuple[str, bool]]) -> None:
    open_tags: list[str] = []
    for name, opens in tags:
        if opens and name not in _VOID:
            open_tags.append(name)
        elif not opens and (not open_tags or open_tags.pop() != name):
            raise ValueError(f"</{name}> closes no element that is open there.")
    if open_tags:
        raise ValueError(f"<{open_tags[-1]}> is never closed.")
