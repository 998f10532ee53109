"""What a cell put out, as typed data, and the reST that shows it without letting any of it act."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuguide.recordings.recording import Stated
from gpuguide_docs.pages.files import write_if_changed

__all__ = [
    "Drawing",
    "Output",
    "Picture",
    "admonition",
    "comment",
    "image",
    "literal",
    "raw_html",
    "read_outputs",
    "save_outputs",
]

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_INDENT = "   "


@dataclass(frozen=True)
class Picture:
    """A figure.

    Parameters
    ----------
    data : bytes
        An SVG file, drawn in the light colours.
    alt : str
        Alternative text.
    """

    data: bytes
    alt: str


@dataclass(frozen=True)
class Output:
    """The outputs of one cell, in the order in which they are shown: pictures, text, HTML."""

    stdout: str = ""
    html: str = ""
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """What the drawn cells of a page came to.

    Parameters
    ----------
    outputs : tuple of Output or None
        One a cell; None when the cells read the recording of another page that waits to be measured.
    stated : Stated
        Facts and claims.
    """

    outputs: tuple[Output | None, ...] = ()
    stated: Stated = field(default_factory=Stated)

    @property
    def fingerprint(self) -> str:
        """What a document depends on that shows something of what the cells state."""
        return hashlib.sha256(repr(self.stated).encode()).hexdigest()


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
    """Show a table.

    Parameters
    ----------
    html : str
        Markup that our own code made, from data, for this build.

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


def chart(pictures: str) -> str:
    """Put a chart and its twin into a box that scrolls where the screen is too narrow to read them.

    Parameters
    ----------
    pictures : str
        From `image`.

    Returns
    -------
    str
        A container.
    """
    return f"\n.. container:: gg-chart\n\n{_indented(pictures.strip())}\n\n"


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


def save_outputs(
    folder: Path, outputs: Sequence[Output | None], extra: Mapping[str, object] | None = None
) -> None:
    """Keep outputs in a folder; its ``outputs.json`` is written last, so that half of them never count.

    Parameters
    ----------
    folder : pathlib.Path
        Made when it is missing.
    outputs : sequence of Output or None
        None for a cell without output.
    extra : mapping of str to plain data, optional
        Kept beside them.
    """
    cells: list[dict[str, object] | None] = []
    for i, output in enumerate(outputs):
        if output is None:
            cells.append(None)
            continue
        pictures = []
        for k, picture in enumerate(output.pictures):
            name = f"{i}-{k}.svg"
            write_if_changed(folder / name, picture.data)
            pictures.append({"file": name, "alt": picture.alt})
        cells.append({"stdout": output.stdout, "html": output.html, "pictures": pictures})
    whole = {"extra": dict(extra or {}), "cells": cells}
    write_if_changed(folder / "outputs.json", json.dumps(whole, indent=1))


def read_outputs(folder: Path) -> tuple[Output | None, ...]:
    """Read what `save_outputs` kept.

    Parameters
    ----------
    folder : pathlib.Path
        As given to it.

    Returns
    -------
    tuple of Output or None
        In the same order.

    Raises
    ------
    OSError, ValueError, KeyError, TypeError
        If the folder does not hold just that.
    """
    kept = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))
    return tuple(None if cell is None else _output(folder, cell) for cell in kept["cells"])


def _output(folder: Path, cell: Mapping[str, object]) -> Output:
    listed = cell["pictures"]
    assert isinstance(listed, list)
    pictures = tuple(Picture((folder / each["file"]).read_bytes(), each["alt"]) for each in listed)
    return Output(str(cell["stdout"]), str(cell["html"]), pictures)
