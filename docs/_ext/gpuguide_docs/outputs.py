"""What a cell put out, as typed data, and the reST that shows it without letting any of it act."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Output", "Picture", "admonition", "comment", "image", "literal", "raw_html"]

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_INDENT = "   "


@dataclass(frozen=True)
class Picture:
    """A figure.

    Parameters
    ----------
    data : bytes
        The file, drawn in the light colours.
    suffix : str
        ``".svg"`` or ``".png"``.
    alt : str
        Alternative text.
    """

    data: bytes
    suffix: str
    alt: str


@dataclass(frozen=True)
class Output:
    """The outputs of one cell, in the order in which they are shown: pictures, text, HTML."""

    stdout: str = ""
    html: str = ""
    pictures: tuple[Picture, ...] = ()


def _lines(text: str) -> Iterable[str]:
    # str.splitlines knows every line break that docutils knows, so that no line escapes the indentation.
    return (_CONTROL.sub("\N{REPLACEMENT CHARACTER}", line) for line in text.splitlines())


def _indented(text: str) -> str:
    return "\n".join(_INDENT + line if line.strip() else "" for line in _lines(text))


def literal(text: str) -> str:
    """Show text as it is, whatever it holds.

    Parameters
    ----------
    text : str
        Anything; colour codes of terminals are dropped.

    Returns
    -------
    str
        A literal block; empty for blank text.
    """
    text = _ANSI.sub("", text).expandtabs()
    if not text.strip():
        return ""
    # The option fixes the indentation, or docutils would strip leading blanks that the lines share.
    return f"\n.. code-block:: none\n{_INDENT}:class: recorded-output\n\n{_indented(text)}\n\n"


def raw_html(html: str) -> str:
    """Pass markup on that the allow-list accepted (the caller checks it).

    Parameters
    ----------
    html : str
        Checked markup.

    Returns
    -------
    str
        A raw directive; empty for blank text.
    """
    if not html.strip():
        return ""
    return f'\n.. raw:: html\n\n{_INDENT}<div class="recorded-html">\n{_indented(html)}\n{_INDENT}</div>\n\n'


def image(path: str, alt: str, classes: str) -> str:
    """Show a picture.

    Parameters
    ----------
    path : str
        From the source folder, beginning with a slash.
    alt : str
        Alternative text; line breaks become blanks.
    classes : str
        Class names.

    Returns
    -------
    str
        An image directive.
    """
    words = " ".join(" ".join(_lines(alt)).split())
    return f"\n.. image:: {path}\n{_INDENT}:alt: {words}\n{_INDENT}:class: {classes}\n\n"


def comment(text: str) -> str:
    """Write one line that readers do not see.

    Parameters
    ----------
    text : str
        One line; letters, digits, blanks and hyphens.

    Returns
    -------
    str
        A reST comment.
    """
    return f"\n..\n{_INDENT}{text}\n\n"


def admonition(title: str, paragraphs: Iterable[str], classes: str) -> str:
    """Write a box.

    Parameters
    ----------
    title : str
        Plain text.
    paragraphs : iterable of str
        Plain text each; shown literally, no markup in it acts.
    classes : str
        Class names.

    Returns
    -------
    str
        An admonition directive.
    """
    body = "\n\n".join(_INDENT + _plain(paragraph) for paragraph in paragraphs)
    return f"\n.. admonition:: {_plain(title)}\n{_INDENT}:class: {classes}\n\n{body}\n\n"


def _plain(text: str) -> str:
    escaped = re.sub(r"([\\`*_|:<>\[\]#.+-])", r"\\\1", " ".join(" ".join(_lines(text)).split()))
    return escaped or "\\ "
