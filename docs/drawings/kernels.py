"""Makes the drawing of the page on fusion, light and dark: ``python docs/drawings/kernels.py``."""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, GREEN, ORANGE, PURPLE, Drawing

from gpuguide.charts.style import to_dark

_MEMORY, _KERNELS = 208, 60


def fusion() -> Drawing:
    """Three kernels with nine arrows to and from memory, and one kernel with three."""
    d = Drawing(720, 290)
    d.box(16, _MEMORY, 688, 44, BLUE, "memory", size=19)
    arrays = {"x": BLUE, "y": BLUE, "d": ORANGE, "e": ORANGE, "out": GREEN}
    steps = (("x - y", "x", "y", "d"), ("x - y", "x", "y", "e"), ("d * e", "d", "e", "out"))
    for k, (words, *names) in enumerate(steps):
        left = 24 + k * 140
        _kernel(d, left, 128, words, [(name, arrays[name]) for name in names])
    _kernel(d, 512, 176, "(x - y) * (x - y)", [(name, arrays[name]) for name in ("x", "y", "out")])
    d.words(222, 34, "three kernels: nine arrays", size=19)
    d.words(600, 34, "fused: three", size=19)
    d.words(222, 278, "d and e are new arrays", size=17, colour=ORANGE)
    d.words(600, 278, "they stay in registers", size=17, colour=PURPLE)
    return d


def _kernel(d: Drawing, left: float, width: float, words: str, arrows: list[tuple[str, str]]) -> None:
    """Draw a kernel with two arrows in and one out, and the names beside them."""
    d.box(left, _KERNELS, width, 46, PURPLE, words, size=17)
    step = width / 3
    for k, (name, colour) in enumerate(arrows):
        x = left + step * (k + 0.5)
        ends = (_MEMORY - 2, _KERNELS + 48) if k < 2 else (_KERNELS + 48, _MEMORY - 2)
        d.arrow(x, ends[0], x, ends[1], colour, width=2)
        d.words(x + 6, (_KERNELS + 46 + _MEMORY) / 2 + 6, name, size=17, anchor="start")


def main() -> None:
    """Write the drawing and its dark twin."""
    svg = fusion().svg()
    (FOLDER / "fusion.svg").write_text(svg, encoding="utf-8")
    (FOLDER / "fusion-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
