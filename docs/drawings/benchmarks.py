"""Makes the drawing of a good benchmark's steps, light and dark: ``python docs/drawings/benchmarks.py``."""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, GREEN, MUTED, ORANGE, PURPLE, Drawing

from gpuguide.style import to_dark

_STEPS = (
    ("put the data", "back", PURPLE, "6"),
    ("read other", "data", PURPLE, "4, 5"),
    ("start", "the clock", ORANGE, ""),
    ("the call", "", GREEN, ""),
    ("wait", "", BLUE, "1"),
    ("stop", "the clock", ORANGE, ""),
)


def benchmark_well() -> Drawing:
    """Draw a call that is not timed, then six steps in a loop, and which mistake leaves which step out."""
    d = Drawing(720, 226)
    d.box(16, 66, 92, 56, MUTED)
    d.words(62, 90, "call once,", size=12)
    d.words(62, 106, "not timed", size=12)
    _number(d, 62, "2")
    d.arrow(110, 94, 132, 94)
    for k, (first, second, colour, mistake) in enumerate(_STEPS):
        x = 136 + k * 97
        d.box(x, 66, 88, 56, colour)
        d.words(x + 44, 90 if second else 98, first, size=12)
        d.words(x + 44, 106, second, size=12)
        if mistake:
            _number(d, x + 44, mistake)
        if k:
            d.arrow(x - 9, 94, x - 1, 94)
    _loop(d)
    d.words(
        16, 30, "orange numbers: the mistake that leaves this step out", size=12, colour=MUTED, anchor="start"
    )
    return d


def _number(d: Drawing, x: float, mistake: str) -> None:
    d.words(x, 56, mistake, size=15, colour=ORANGE)


def _loop(d: Drawing) -> None:
    """Draw the way back from the last step to the first."""
    d.line(665, 126, 665, 168)
    d.line(665, 168, 180, 168)
    d.arrow(180, 168, 180, 126)
    d.words(422, 190, "many samples, and their median", size=12)
    d.words(422, 212, "3", size=15, colour=ORANGE)


def main() -> None:
    """Write the drawing and its dark twin."""
    svg = benchmark_well().svg()
    (FOLDER / "benchmark_well.svg").write_text(svg, encoding="utf-8")
    (FOLDER / "benchmark_well-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
