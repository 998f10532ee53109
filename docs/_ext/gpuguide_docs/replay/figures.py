"""Figures on disk: the light one, its dark twin, and the thumbnail of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide_docs.pages.files import write_if_changed
from gpuguide_docs.replay.outputs import Picture, chart, image

if TYPE_CHECKING:
    from gpuguide_docs.replay.states import States

__all__ = ["PLAIN_THUMBNAIL", "FigureFolder", "shown_drawing", "write_thumbnail"]

# In a script each line of text begins with a number sign.
_DRAWING = re.compile(r"^(?:# )?\.\. drawing:: +(\S+)|^[:`]{3,}\{drawing\} +(\S+)", re.MULTILINE)

#: Shown for a page without a figure, and for one whose outputs are not those of its present code.
PLAIN_THUMBNAIL = b"""\
<svg xmlns="http://www.w3.org/2000/svg" width="400" height="280" viewBox="0 0 400 280">
 <g fill="none" stroke="#8a94a3" stroke-width="6">
  <path d="M70 50v170h270" stroke-linecap="round" stroke-linejoin="round"/>
  <path d="M95 190L160 150L225 165L320 80" stroke-dasharray="4 14" stroke-linecap="round"/>
 </g>
</svg>
"""


class FigureFolder:
    """Writes the figures of one page."""

    def __init__(self, docs: Path, folder: Path, page: str, dark: Callable[[bytes], bytes]) -> None:
        self.docs = docs
        self.folder = folder
        self.page = page
        self.dark = dark
        self.pictures: list[Picture] = []

    def add(self, picture: Picture) -> str:
        """Write a figure and its dark twin."""
        self.pictures.append(picture)
        stem = f"{self.page}-{len(self.pictures)}"
        if not picture.narrow:
            return chart(self._twins(stem, picture.data, picture.alt, "recorded-figure"))
        wide = self._twins(stem, picture.data, picture.alt, "recorded-figure gg-wide")
        return chart(
            wide + self._twins(f"{stem}-narrow", picture.narrow, picture.alt, "recorded-figure gg-narrow")
        )

    def _twins(self, stem: str, data: bytes, alt: str, classes: str) -> str:
        light = self._write(f"{stem}-light.svg", data)
        dark = self._write(f"{stem}-dark.svg", self.dark(data))
        twins = ((light, "only-light"), (dark, "only-dark"))
        return "".join(image(path, alt, f"{classes} {theme}") for path, theme in twins)

    def _write(self, name: str, data: bytes) -> str:
        path = self.folder / name
        write_if_changed(path, data)
        return "/" + path.relative_to(self.docs).as_posix()


def shown_drawing(source: str, docs: Path) -> str:
    """Find the first drawing that a page shows, in its form for phones if it has one (larger words)."""
    names = (name for found in _DRAWING.finditer(source) if (name := found[1] or found[2]))
    drawings = docs / "_static" / "drawings"
    forms = (form for name in names for form in (f"{name}-narrow", name))
    return next((form for form in forms if (drawings / f"{form}.svg").is_file()), "")


def write_thumbnail(
    target: Path, script: Path, states: States, pictures: Sequence[Picture], own: Picture | None
) -> None:
    """Write what sphinx-gallery makes the thumbnail of a page, and the dark twin of that.

    It is what the page's thumbnail cell draws, else its drawing, else its first chart as drawn for phones.
    """
    docs = states.layout.docs
    if own is not None:
        light = own.data
        dark = states.guide.dark(light)
    elif drawing := shown_drawing(script.read_text(encoding="utf-8"), docs):
        twins = (docs / "_static" / "drawings" / f"{drawing}{end}.svg" for end in ("", "-dark"))
        light, dark = (path.read_bytes() for path in twins)
    elif pictures:
        light = pictures[0].narrow or pictures[0].data
        dark = states.guide.dark(light)
    else:
        # So that a page never keeps a figure of other code.
        light = dark = PLAIN_THUMBNAIL
    images = target.parent / "images"
    write_if_changed(images / f"sphx_glr_{script.stem}_001.svg", light)
    write_if_changed(images / "thumb" / f"sphx_glr_{script.stem}_thumb-dark.svg", dark)
