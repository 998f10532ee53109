"""Makes the drawings of ideas, light and dark: ``python docs/drawings/make_drawings.py``.

Drawn in the light colours of the guide's palette; `to_dark` makes the twin. The SVGs are committed.
"""

from __future__ import annotations

from pathlib import Path

from gpuguide.charts.style import INK, MUTED, SERIES, to_dark

FOLDER = Path(__file__).parents[1] / "_static" / "drawings"
BLUE, ORANGE, GREEN, PURPLE = SERIES[:4]


class Drawing:
    """An SVG of boxes, arrows and words, in pixels from the upper left corner."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []

    def box(
        self, x: float, y: float, w: float, h: float, colour: str, words: str = "", *, size: int = 13
    ) -> None:
        """Draw a tinted box with words in its middle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4" fill="{colour}" '
            f'fill-opacity="0.16" stroke="{colour}" stroke-width="1.5"/>'
        )
        if words:
            self.words(x + w / 2, y + h / 2 + size * 0.36, words, size=size)

    def words(
        self, x: float, y: float, words: str, *, size: int = 13, colour: str = INK, anchor: str = "middle"
    ) -> None:
        """Write one line."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}">{words}</text>'
        )

    def arrow(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        colour: str = MUTED,
        *,
        width: float = 1.5,
        dash: str = "",
    ) -> None:
        """Draw a line with a head at its end."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" stroke="{colour}" '
            f'stroke-width="{width:g}"{dashed} marker-end="url(#head-{colour[1:]})"/>'
        )

    def line(
        self, x0: float, y0: float, x1: float, y1: float, colour: str = MUTED, *, dash: str = ""
    ) -> None:
        """Draw a line."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" stroke="{colour}" '
            f'stroke-width="1.5"{dashed}/>'
        )

    def svg(self) -> str:
        """Return the whole file."""
        heads = "".join(
            f'<marker id="head-{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{colour}"/></marker>'
            for colour in (MUTED, BLUE, ORANGE, GREEN, PURPLE)
        )
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="DejaVu Sans, Verdana, sans-serif">\n'
            f"<defs>{heads}</defs>\n{body}\n</svg>\n"
        )


def first_kernel() -> Drawing:
    """Three blocks of four threads over eleven elements: the last thread has none."""
    d = Drawing(720, 250)
    d.words(20, 24, "grid: 3 blocks of 4 threads", anchor="start", colour=MUTED)
    colours = (BLUE, GREEN, PURPLE)
    for block, colour in enumerate(colours):
        left = 20 + block * 230
        d.box(left, 36, 216, 78, colour)
        d.words(left + 108, 54, f"blockIdx.x = {block}", size=12)
        for thread in range(4):
            x = left + 10 + thread * 50
            d.box(x, 64, 44, 40, colour, str(thread))
            i = 4 * block + thread
            if i < 11:
                d.arrow(x + 22, 106, x + 22, 160, colour)
                d.box(x, 164, 44, 36, MUTED, f"x[{i}]", size=11)
            else:
                d.words(x + 22, 150, "i &gt;= n", size=11, colour=MUTED)
                d.words(x + 22, 166, "does", size=11, colour=MUTED)
                d.words(x + 22, 180, "nothing", size=11, colour=MUTED)
    d.words(360, 232, "i = threadIdx.x + blockIdx.x * blockDim.x", size=14)
    return d


def how_to_time() -> Drawing:
    """Two lanes of time: the host launches and goes on, the device starts later."""
    d = Drawing(720, 280)
    d.words(10, 106, "host", anchor="start", size=17)
    d.words(10, 186, "device", anchor="start", size=17)
    d.line(90, 118, 700, 118)
    d.line(90, 198, 700, 198)
    d.box(110, 80, 110, 36, BLUE, "launch", size=17)
    d.box(220, 80, 272, 36, MUTED, "free for other work", size=17)
    d.box(492, 80, 68, 36, ORANGE, "waits", size=17)
    d.arrow(165, 120, 240, 156, BLUE, dash="4 3")
    d.box(240, 160, 320, 36, GREEN, "kernel", size=17)
    d.arrow(560, 158, 560, 122, GREEN, dash="4 3")
    for x, low in ((110, 232), (220, 232), (560, 258)):
        d.line(x, 58, x, low, dash="3 3")
    d.words(110, 48, "start", size=17)
    for x, how in ((220, "stop, not"), (560, "stop,")):
        d.words(x, 26, how, size=17)
        d.words(x, 48, "synchronised", size=17)
    d.arrow(165, 226, 112, 226)
    d.arrow(165, 226, 218, 226)
    d.words(165, 248, "the launch", size=16, colour=MUTED)
    d.arrow(400, 226, 242, 226, GREEN)
    d.arrow(400, 226, 558, 226, GREEN)
    d.words(400, 248, "what the device's own clock says", size=16, colour=MUTED)
    return d


def know_your_gpu() -> Drawing:
    """From the host's memory over PCIe to the device's memory, its L2 cache and its multiprocessors."""
    d = Drawing(720, 226)
    d.box(10, 66, 112, 104, ORANGE)
    d.words(66, 112, "host", size=17)
    d.words(66, 134, "memory", size=17)
    d.words(166, 100, "PCIe", size=17)
    _ways(d, 126, 206, 118, 1, ORANGE)
    d.box(210, 16, 500, 198, BLUE)
    d.words(224, 40, "device", anchor="start", size=17)
    d.box(224, 66, 116, 104, BLUE)
    d.words(282, 112, "device", size=17)
    d.words(282, 134, "memory", size=17)
    _ways(d, 344, 410, 118, 2, BLUE)
    d.box(414, 66, 88, 104, GREEN)
    d.words(458, 112, "L2", size=17)
    d.words(458, 134, "cache", size=17)
    _ways(d, 506, 566, 118, 3, GREEN)
    for row in range(4):
        for column in range(4):
            d.box(572 + column * 32, 66 + row * 27, 28, 23, PURPLE)
    d.words(702, 196, "multiprocessors", size=17, anchor="end")
    return d


def _ways(d: Drawing, left: float, right: float, middle: float, n: int, colour: str) -> None:
    """Draw as many arrows each way as the way is wide."""
    for k in range(n):
        d.arrow(left, middle - 8 - k * 14, right, middle - 8 - k * 14, colour, width=2)
        d.arrow(right, middle + 8 + k * 14, left, middle + 8 + k * 14, colour, width=2)


def sparse_lookup() -> Drawing:
    """Two queries beside each other, each halving its own range of one sorted array."""
    d = Drawing(720, 266)
    keys = (2, 5, 8, 11, 17, 23, 29, 31, 40, 44, 52, 58, 63, 71, 80)
    d.words(20, 62, "keys, sorted", anchor="start", size=12, colour=MUTED)
    for k, key in enumerate(keys):
        d.box(130 + k * 38, 42, 34, 32, BLUE, str(key), size=12)
    d.words(20, 132, "thread 0", anchor="start", size=12)
    d.words(20, 150, "looks for 23", anchor="start", size=12, colour=MUTED)
    d.words(20, 202, "thread 1", anchor="start", size=12)
    d.words(20, 220, "looks for 60", anchor="start", size=12, colour=MUTED)
    for y, places, colour in ((140, (7, 3, 5), GREEN), (210, (7, 11, 13, 12), PURPLE)):
        low, high = 0, len(keys) - 1
        for step, place in enumerate(places):
            x = 147 + place * 38
            d.box(130 + low * 38, y - 26 + step * 14, (high - low) * 38 + 34, 10, colour)
            d.line(x, y - 28 + step * 14, x, y - 14 + step * 14, colour)
            if place < places[-1]:
                low = place + 1
            else:
                high = max(place - 1, low)
    d.words(410, 254, "each step halves the range in which the key can be", size=12, colour=MUTED)
    return d


def main() -> None:
    """Write all drawings and their dark twins."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (first_kernel, how_to_time, know_your_gpu, sparse_lookup):
        svg = make().svg()
        (FOLDER / f"{make.__name__}.svg").write_text(svg, encoding="utf-8")
        (FOLDER / f"{make.__name__}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
