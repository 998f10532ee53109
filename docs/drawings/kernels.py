"""Makes the drawing of the page on fusion, light and dark: ``python docs/drawings/kernels.py``."""

from __future__ import annotations

from make_drawings import BLUE, GREEN, ORANGE, PURPLE, Drawing, write

_MEMORY, _KERNELS = 208, 60


def fusion() -> Drawing:
    """Three kernels with nine arrows to and from memory, and one kernel with three."""
    d = Drawing(720, 290)
    d.box(16, _MEMORY, 688, 44, BLUE, "memory")
    arrays = {"x": BLUE, "y": BLUE, "d": ORANGE, "e": ORANGE, "out": GREEN}
    steps = (("x - y", "x", "y", "d"), ("x - y", "x", "y", "e"), ("d * e", "d", "e", "out"))
    for k, (words, *names) in enumerate(steps):
        left = 24 + k * 140
        _kernel(d, left, 128, words, [(name, arrays[name]) for name in names])
    _kernel(d, 512, 176, "(x - y) * (x - y)", [(name, arrays[name]) for name in ("x", "y", "out")])
    d.words(222, 34, "three kernels: nine arrays")
    d.words(600, 34, "fused: three")
    d.words(222, 278, "d and e are new arrays", colour=ORANGE)
    d.words(600, 278, "in registers", colour=PURPLE)
    return d


def _kernel(d: Drawing, left: float, width: float, words: str, arrows: list[tuple[str, str]]) -> None:
    """Draw a kernel with two arrows in and one out, and the names beside them."""
    d.box(left, _KERNELS, width, 46, PURPLE, words)
    step = width / 3
    for k, (name, colour) in enumerate(arrows):
        x = left + step * (k + 0.5)
        ends = (_MEMORY - 2, _KERNELS + 48) if k < 2 else (_KERNELS + 48, _MEMORY - 2)
        d.arrow(x, ends[0], x, ends[1], colour, width=2)
        d.words(x + 6, (_KERNELS + 46 + _MEMORY) / 2 + 6, name, anchor="start")


if __name__ == "__main__":
    write(fusion)
