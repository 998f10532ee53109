"""Makes the drawing of the rooms on the page about the architecture: ``python docs/drawings/rooms.py``."""

from __future__ import annotations

from make_drawings import BLUE, MUTED, ORANGE, Drawing, write

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


def rooms(*, narrow: bool = False) -> Drawing:
    """Two houses, storey by storey: the package, and the extension that stands on it."""
    d = Drawing(360, 810) if narrow else Drawing(720, 396)
    for left, top, width, title, storeys in (
        (10, 0, 340 if narrow else 366, "src/gpuguide", _PACKAGE),
        (
            10 if narrow else 396,
            366 if narrow else 0,
            340 if narrow else 314,
            "docs/_ext/gpuguide_docs",
            _EXTENSION,
        ),
    ):
        d.words(left + width / 2, top + 24, title)
        for i, storey in enumerate(storeys):
            room = (width - _GAP * (len(storey) - 1)) / len(storey)
            for k, (name, colour) in enumerate(storey):
                y = top + 40 + i * (_STOREY + _GAP)
                d.box(left + k * (room + _GAP), y, room, _STOREY, colour, name)
    for k, (words, colour) in enumerate(
        (
            ("can change a number", ORANGE),
            ("can change a picture", BLUE),
            ("each storey uses those below it", MUTED),
        )
    ):
        x, y = (10, 750 + 20 * k) if narrow else (10 + 210 * k, 378)
        d.words(x, y, words, colour=colour, anchor="start")
    return d


if __name__ == "__main__":
    write(rooms)
