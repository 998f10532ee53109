"""Makes the small pictures of pages that neither measure nor draw: ``python docs/drawings/tiles.py``."""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write

_WIDTH, _HEIGHT = 200, 140


def install() -> Drawing:
    """Stack what has to be there: the driver, CUDA, and the two libraries on top."""
    d = Drawing(_WIDTH, _HEIGHT)
    d.box(10, 10, 87, 36, BLUE, "CuPy")
    d.box(103, 10, 87, 36, ORANGE, "Numba")
    d.box(10, 52, 180, 36, GREEN, "CUDA")
    d.box(10, 94, 180, 36, MUTED, "driver")
    return d


def puzzles() -> Drawing:
    """Show a kernel with a gap, and the verdict."""
    d = Drawing(_WIDTH, _HEIGHT)
    d.frame(10, 8, 180, 84, MUTED)
    for line, code in enumerate(("i = cuda.grid(1)", "if i &lt; n:", "    x[i] += ...")):
        d.code(20, 30 + 24 * line, code)
    d.box(10, 100, 180, 32, GREEN, "right, in 4 threads")
    return d


def trace() -> Drawing:
    """Show threads that change one element."""
    d = Drawing(_WIDTH, _HEIGHT)
    for thread in range(3):
        d.box(10 + 64 * thread, 8, 52, 30, BLUE, str(thread))
        d.arrow(36 + 64 * thread, 38, 84 + 16 * thread, 74, ORANGE)
    d.box(60, 74, 80, 30, ORANGE, "out[0]")
    d.words(100, 128, "a race, in line 7")
    return d


def then_and_now() -> Drawing:
    """Show a claim beside what was measured."""
    d = Drawing(_WIDTH, _HEIGHT)
    for top, words, width, colour in ((8, "said then", 172, MUTED), (74, "measured now", 60, PURPLE)):
        d.words(10, top + 14, words, anchor="start")
        d.box(10, top + 22, width, 30, colour)
    return d


if __name__ == "__main__":
    write(install, puzzles, trace, then_and_now)
