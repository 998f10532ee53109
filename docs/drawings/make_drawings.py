"""Makes the drawings of ideas, light and dark: ``python docs/drawings/make_drawings.py``.

Drawn in the light colours of the guide's palette; `to_dark` makes the twin. The SVGs are committed.
"""

from __future__ import annotations

from pathlib import Path

from gpuguide.style import INK, MUTED, SERIES, to_dark

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
    d = Drawing(720, 260)
    d.words(20, 82, "host", anchor="start")
    d.words(20, 162, "device", anchor="start")
    d.line(90, 98, 700, 98)
    d.line(90, 178, 700, 178)
    d.box(110, 62, 110, 34, BLUE, "launch")
    d.box(220, 62, 280, 34, MUTED, "free for other work", size=12)
    d.box(500, 62, 60, 34, ORANGE, "waits", size=12)
    d.arrow(165, 100, 240, 138, BLUE, dash="4 3")
    d.box(240, 142, 320, 34, GREEN, "kernel")
    d.arrow(560, 140, 560, 102, GREEN, dash="4 3")
    for x, low in ((110, 210), (220, 210), (560, 236)):
        d.line(x, 40, x, low, dash="3 3")
    d.words(110, 30, "start", size=12)
    d.words(220, 30, "stop, not synchronised", size=12)
    d.words(560, 30, "stop, synchronised", size=12)
    d.arrow(165, 206, 112, 206)
    d.arrow(165, 206, 218, 206)
    d.words(165, 224, "the launch", size=12, colour=MUTED)
    d.arrow(400, 206, 242, 206, GREEN)
    d.arrow(400, 206, 558, 206, GREEN)
    d.words(400, 224, "what the device's own clock says", size=12, colour=MUTED)
    return d


def know_your_gpu() -> Drawing:
    """From the host's memory over PCIe to the device's memory, its L2 cache and its multiprocessors."""
    d = Drawing(720, 240)
    d.box(20, 70, 110, 100, ORANGE)
    d.words(75, 116, "host")
    d.words(75, 134, "memory")
    d.arrow(134, 112, 212, 112, ORANGE, width=2)
    d.arrow(212, 128, 134, 128, ORANGE, width=2)
    d.words(173, 98, "PCIe", size=12)
    d.box(216, 30, 490, 180, BLUE)
    d.words(228, 50, "device", anchor="start")
    d.box(236, 70, 120, 100, BLUE)
    d.words(296, 116, "device")
    d.words(296, 134, "memory")
    d.arrow(360, 108, 430, 108, BLUE, width=5)
    d.arrow(430, 132, 360, 132, BLUE, width=5)
    d.box(434, 80, 84, 80, GREEN)
    d.words(476, 116, "L2")
    d.words(476, 134, "cache")
    d.arrow(522, 104, 572, 104, GREEN, width=8)
    d.arrow(572, 136, 522, 136, GREEN, width=8)
    for row in range(4):
        for column in range(4):
            d.box(578 + column * 30, 72 + row * 25, 26, 21, PURPLE)
    d.words(637, 190, "multiprocessors", size=12)
    d.words(395, 190, "measured here", size=12, colour=MUTED)
    return d


def sort_search() -> Drawing:
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
    for make in (first_kernel, how_to_time, know_your_gpu, sort_search):
        svg = make().svg()
        (FOLDER / f"{make.__name__}.svg").write_text(svg, encoding="utf-8")
        (FOLDER / f"{make.__name__}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
