"""What a cell put out, as typed data, and the reST that shows it without letting any of it act."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuguide.recordings.plain import dumps, loads
from gpuguide.recordings.recording import Stated
from gpuguide_docs.pages.files import write_if_changed

__all__ = [
    "Drawing",
    "Output",
    "Picture",
    "admonition",
    "cell_directive",
    "image",
    "literal",
    "raw_html",
    "read_kept",
    "read_outputs",
    "save_outputs",
]

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_INDENT = "   "


@dataclass(frozen=True)
class Picture:
    """A figure."""

    data: bytes
    alt: str
    narrow: bytes = b""


@dataclass(frozen=True)
class Output:
    """The outputs of one cell, in the order in which they are shown: pictures, text, HTML."""

    stdout: str = ""
    html: str = ""
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """What the drawn cells of a page came to."""

    outputs: tuple[Output | None, ...] = ()
    stated: Stated = field(default_factory=Stated)

    @property
    def fingerprint(self) -> str:
        """What a document depends on that shows something of what the cells state."""
        return hashlib.sha256(repr(self.stated).encode()).hexdigest()


def _indented(text: str) -> str:
    # str.splitlines knows every line break that docutils knows, so that no line escapes the indentation.
    return "\n".join(_INDENT + line if line.strip() else "" for line in text.splitlines())


def literal(text: str) -> str:
    """Show text as it is, whatever it holds."""
    text = _ANSI.sub("", text).expandtabs()
    if not text.strip():
        return ""
    # The option fixes the indentation, or docutils would strip leading blanks that the lines share.
    return f"\n.. code-block:: none\n{_INDENT}:class: recorded-output\n\n{_indented(text)}\n\n"


def raw_html(html: str) -> str:
    """Show a table."""
    if not html.strip():
        return ""
    return f'\n.. raw:: html\n\n{_INDENT}<div class="recorded-html">\n{_indented(html)}\n{_INDENT}</div>\n\n'


def image(path: str, alt: str, classes: str) -> str:
    """Show a picture."""
    return f"\n.. image:: {path}\n{_INDENT}:alt: {' '.join(alt.split())}\n{_INDENT}:class: {classes}\n\n"


def chart(pictures: str) -> str:
    """Put a chart and its twin into a box that scrolls where the screen is too narrow to read them."""
    return f"\n.. container:: gg-chart\n\n{_indented(pictures.strip())}\n\n"


def cell_directive(code: str, output: str, options: Iterable[str]) -> str:
    """Show a cell: its code, and below it the reST of what it put out."""
    head = "".join(f"{_INDENT}:{option}\n" for option in options)
    body = f".. code-block:: Python\n\n{_indented(code)}\n\n{output}"
    return f".. cell::\n{head}\n{_indented(body)}\n"


def admonition(title: str, paragraphs: Iterable[str], classes: str) -> str:
    """Write a box."""
    body = "\n\n".join(_INDENT + _plain(paragraph) for paragraph in paragraphs)
    return f"\n.. admonition:: {_plain(title)}\n{_INDENT}:class: {classes}\n\n{body}\n\n"


def _plain(text: str) -> str:
    escaped = re.sub(r"([\\`*_|:<>\[\]#.+-])", r"\\\1", " ".join(text.split()))
    return escaped or "\\ "


@dataclass(frozen=True)
class _KeptPicture:
    file: str
    alt: str
    # Whether there is a narrow twin.
    narrow: bool


@dataclass(frozen=True)
class _KeptOutput:
    stdout: str
    html: str
    pictures: tuple[_KeptPicture, ...]


@dataclass(frozen=True)
class _Kept:
    """``outputs.json``: what was put out, what was read for it (folder, its digest), and stated."""

    reads: tuple[tuple[str, str], ...]
    stated: Stated
    cells: tuple[_KeptOutput | None, ...]


_OUTPUTS = "outputs.json"


def save_outputs(
    folder: Path,
    outputs: Sequence[Output | None],
    reads: Mapping[str, str] | None = None,
    stated: Stated | None = None,
) -> None:
    """Keep outputs in a folder; its ``outputs.json`` is written last, so that half of them never count."""
    cells = tuple(
        None if output is None else _kept_output(folder, i, output) for i, output in enumerate(outputs)
    )
    text = dumps(_Kept(tuple((reads or {}).items()), stated or Stated(), cells))
    write_if_changed(folder / _OUTPUTS, text)


def _kept_output(folder: Path, i: int, output: Output) -> _KeptOutput:
    pictures = []
    for k, picture in enumerate(output.pictures):
        kept = _KeptPicture(f"{i}-{k}.svg", picture.alt, bool(picture.narrow))
        write_if_changed(folder / kept.file, picture.data)
        if picture.narrow:
            write_if_changed(folder / _narrow(kept.file), picture.narrow)
        pictures.append(kept)
    return _KeptOutput(output.stdout, output.html, tuple(pictures))


def read_outputs(folder: Path) -> tuple[Output | None, ...]:
    """Read the outputs that `save_outputs` kept."""
    return read_kept(folder)[0]


def read_kept(folder: Path) -> tuple[tuple[Output | None, ...], tuple[tuple[str, str], ...], Stated]:
    """Read outputs as `read_outputs` does, with what was read for them and what was stated."""
    kept = loads(_Kept, (folder / _OUTPUTS).read_bytes(), _OUTPUTS)
    cells = tuple(None if cell is None else _output(folder, cell) for cell in kept.cells)
    return cells, kept.reads, kept.stated


def _output(folder: Path, cell: _KeptOutput) -> Output:
    pictures = (
        Picture(
            (folder / kept.file).read_bytes(),
            kept.alt,
            (folder / _narrow(kept.file)).read_bytes() if kept.narrow else b"",
        )
        for kept in cell.pictures
    )
    return Output(cell.stdout, cell.html, tuple(pictures))


def _narrow(name: str) -> str:
    return f"{name.removesuffix('.svg')}-narrow.svg"
