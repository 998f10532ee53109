"""Which text and HTML a recording may hold: allow-lists, so that nothing in it can act in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuguide.errors import RecordingError
from gpuguide.safe_svg import check_png, check_svg, clean_svg

__all__ = ["check_html", "check_png", "check_svg", "check_text", "clean_svg", "plain_text"]

_WORDS = re.compile(r"[\w-]+")
_TAGS = frozenset(
    _WORDS.findall(
        """b br caption code col colgroup dd details div dl dt em h4 h5 h6 hr i kbd li ol p pre s samp small
        span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr"""
    )
)
_VOID = frozenset({"br", "col", "hr", "wbr"})
_ATTRIBUTES = frozenset(
    _WORDS.findall(
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
    if name not in _TAGS:
        raise ValueError(f"the element <{name}> is not allowed in recorded HTML.")
    for attribute in _ATTRIBUTE.findall(attributes):
        if attribute.lower() not in _ATTRIBUTES:
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
