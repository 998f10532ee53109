"""Makes the drawing of the rooms on the page about the architecture: ``python docs/drawings/rooms.py``."""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, MUTED, ORANGE, Drawing

from gpuguide.charts.style import to_dark

_STOREY, _GAP = 52, 10
#: From the top down: a storey's rooms, each with its colour. Orange can change a number, blue a picture.
_PACKAGE = (
    (("cli", MUTED), ("doctor", MUTED)),
    (("topics", ORANGE), ("exercises", MUTED)),
    (("measure", ORANGE), ("recordings", BLUE), ("charts", BLUE)),
    (("machine", ORANGE), ("results", BLUE), ("tracer", MUTED)),
    (("errors", MUTED),),
)
_EXTENSION = (
    (("downloads", MUTED), ("lint", MUTED), ("commands", MUTED)),
    (("show", MUTED),),
    (("replay", MUTED),),
    (("record", ORANGE),),
    (("pages", MUTED),),
)


def rooms() -> Drawing:
    """Two houses, storey by storey: the package, and the extension that stands on it."""
    d = Drawing(720, 396)
    for left, width, title, storeys in (
        (10, 366, "src/gpuguide", _PACKAGE),
        (396, 314, "docs/_ext/gpuguide_docs", _EXTENSION),
    ):
        d.words(left + width / 2, 24, title, size=16)
        for i, storey in enumerate(storeys):
            room = (width - _GAP * (len(storey) - 1)) / len(storey)
            for k, (name, colour) in enumerate(storey):
                d.box(
                    left + k * (room + _GAP), 40 + i * (_STOREY + _GAP), room, _STOREY, colour, name, size=16
                )
    d.words(10, 378, "can change a number", size=14, colour=ORANGE, anchor="start")
    d.words(190, 378, "can change a picture", size=14, colour=BLUE, anchor="start")
    d.words(710, 378, "each storey uses those below it", size=14, colour=MUTED, anchor="end")
    return d


def main() -> None:
    """Write the drawing and its dark twin."""
    svg = rooms().svg()
    (FOLDER / "rooms.svg").write_text(svg, encoding="utf-8")
    (FOLDER / "rooms-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
