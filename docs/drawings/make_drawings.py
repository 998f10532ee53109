"""Makes the drawings of ideas, light, dark and for phones: ``python docs/drawings/make_drawings.py``.

Drawn in the light colours of the guide's palette; `to_dark` makes the twin. The SVGs are committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from pathlib import Path

from gpuguide.charts.style import INK, MUTED, SERIES, to_dark

FOLDER = Path(__file__).parents[1] / "_static" / "drawings"
BLUE, ORANGE, GREEN, PURPLE = SERIES[:4]

#: Pixels: of all words, beside the text of a page, and on a phone.
SIZE, NARROW_SIZE = 14, 12
_NARROW_WIDTH = 360


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    w: float
    h: float
    colour: str
    opacity: float
    words: str = ""


@dataclass(frozen=True)
class _Words:
    x: float
    y: float
    words: str
    colour: str
    anchor: str
    is_code: bool = False

    def width(self, size: int) -> float:
        return _width(self.words, size, self.is_code)

    def left(self, size: int) -> float:
        return self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * self.width(size)


@dataclass(frozen=True)
class _Line:
    x0: float
    y0: float
    x1: float
    y1: float
    colour: str
    width: float
    dash: str
    is_arrow: bool


class Drawing:
    """An SVG of boxes, arrows and words, in pixels from the upper left corner."""

    def __init__(self, width: int, height: int, labels: float = 0) -> None:
        # On a phone, the column of so many pixels on the left, which holds labels, stays nearly as wide.
        self.width, self.height, self.labels = width, height, labels
        self.parts: list[_Box | _Words | _Line] = []

    def box(self, x: float, y: float, w: float, h: float, colour: str, words: str = "") -> None:
        """Draw a tinted box with words in its middle."""
        self.parts.append(_Box(x, y, w, h, colour, 0.16, words))

    def frame(self, x: float, y: float, w: float, h: float, colour: str) -> None:
        """Draw a box without a tint, so that what lies in it keeps its own colour."""
        self.parts.append(_Box(x, y, w, h, colour, 0))

    def full(self, x: float, y: float, w: float, h: float, colour: str) -> None:
        """Draw a box of full colour: the one among many that counts."""
        self.parts.append(_Box(x, y, w, h, colour, 1))

    def words(self, x: float, y: float, words: str, *, colour: str = INK, anchor: str = "middle") -> None:
        """Write one line."""
        if words:
            self.parts.append(_Words(x, y, words, colour, anchor))

    def code(self, x: float, y: float, line: str) -> None:
        """Write one line of code."""
        self.parts.append(_Words(x, y, line.replace(" ", "\N{NO-BREAK SPACE}"), INK, "start", is_code=True))

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
        self.parts.append(_Line(x0, y0, x1, y1, colour, width, dash, is_arrow=True))

    def line(
        self, x0: float, y0: float, x1: float, y1: float, colour: str = MUTED, *, dash: str = ""
    ) -> None:
        """Draw a line."""
        self.parts.append(_Line(x0, y0, x1, y1, colour, 1.5, dash, is_arrow=False))

    @property
    def size(self) -> int:
        """The size of all words."""
        return NARROW_SIZE if self.width <= _NARROW_WIDTH else SIZE

    def squeezed(self) -> Drawing:
        """Give the same drawing half as wide, with words as large as a phone needs them."""
        narrow = Drawing(_NARROW_WIDTH, self.height)
        column = self.labels * NARROW_SIZE / SIZE
        by = (_NARROW_WIDTH - column) / (self.width - self.labels)

        def place(x: float) -> float:
            return x * NARROW_SIZE / SIZE if x < self.labels else column + by * (x - self.labels)

        for part in self.parts:
            if isinstance(part, _Box):
                left = place(part.x)
                narrow.parts.append(replace(part, x=left, w=place(part.x + part.w) - left))
            elif isinstance(part, _Words):
                narrow.parts.append(replace(part, x=place(part.x)))
            else:
                narrow.parts.append(replace(part, x0=place(part.x0), x1=place(part.x1)))
        return narrow

    def lines_in(self, box: _Box) -> list[_Words]:
        """Give the words of a box, in as many lines as its width asks for."""
        lines: list[str] = []
        for word in box.words.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and _width(longer, self.size) <= box.w - 2:
                lines[-1] = longer
            else:
                lines.append(word)
        step = self.size + 2
        first = box.y + box.h / 2 + 0.36 * self.size - step * (len(lines) - 1) / 2
        return [
            _Words(box.x + box.w / 2, first + i * step, line, INK, "middle") for i, line in enumerate(lines)
        ]

    def faults(self) -> list[str]:
        """Name words that leave the drawing or their box, that cross the side of a box, or touch others."""
        boxes = [part for part in self.parts if isinstance(part, _Box)]
        faults = [f"{box.words!r} leaves its box" for box in boxes if not self._has_room(box)]
        placed = [part for part in self.parts if isinstance(part, _Words)]
        placed += [line for box in boxes for line in self.lines_in(box)]
        for at, words in enumerate(placed):
            left, top, right, bottom = self._extent(words)
            if left < 0 or right > self.width or bottom > self.height:
                faults.append(f"{words.words!r} leaves the drawing")
            for box in boxes:
                is_inside = box.x <= left and right <= box.x + box.w
                beside = left >= box.x + box.w or box.x >= right
                if not is_inside and not beside and top + 1 < box.y + box.h and box.y < bottom - 1:
                    faults.append(f"{words.words!r} crosses the side of a box")
            for other in placed[:at]:
                left_2, top_2, right_2, bottom_2 = self._extent(other)
                if left < right_2 and left_2 < right and top < bottom_2 and top_2 < bottom:
                    faults.append(f"{words.words!r} touches {other.words!r}")
        return faults

    def _has_room(self, box: _Box) -> bool:
        lines = self.lines_in(box)
        is_wide_enough = all(line.width(self.size) <= box.w for line in lines)
        return is_wide_enough and len(lines) * (self.size + 2) <= box.h + 2

    def _extent(self, words: _Words) -> tuple[float, float, float, float]:
        """Give left, top, right and bottom of one line."""
        left, size = words.left(self.size), self.size
        return left, words.y - 0.75 * size, left + words.width(size), words.y + 0.1 * size

    def svg(self) -> str:
        """Return the whole file."""
        heads = "".join(
            f'<marker id="head-{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{colour}"/></marker>'
            for colour in (MUTED, BLUE, ORANGE, GREEN, PURPLE)
        )
        body = "\n".join(text for part in self.parts for text in self._drawn(part))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="DejaVu Sans, Verdana, sans-serif" '
            f'font-size="{self.size}">\n<defs>{heads}</defs>\n{body}\n</svg>\n'
        )

    def _drawn(self, part: _Box | _Words | _Line) -> Iterator[str]:
        if isinstance(part, _Box):
            fill = f'fill="{part.colour}" fill-opacity="{part.opacity:g}"' if part.opacity else 'fill="none"'
            yield (
                f'<rect x="{part.x:g}" y="{part.y:g}" width="{part.w:g}" height="{part.h:g}" rx="4" {fill} '
                f'stroke="{part.colour}" stroke-width="1.5"/>'
            )
            for line in self.lines_in(part):
                yield from self._drawn(line)
        elif isinstance(part, _Words):
            font = ' font-family="DejaVu Sans Mono, Menlo, Consolas, monospace"' if part.is_code else ""
            yield (
                f'<text x="{part.x:g}" y="{part.y:g}" fill="{part.colour}" text-anchor="{part.anchor}"{font}>'
                f"{part.words}</text>"
            )
        else:
            dashed = f' stroke-dasharray="{part.dash}"' if part.dash else ""
            head = f' marker-end="url(#head-{part.colour[1:]})"' if part.is_arrow else ""
            yield (
                f'<line x1="{part.x0:g}" y1="{part.y0:g}" x2="{part.x1:g}" y2="{part.y1:g}" '
                f'stroke="{part.colour}" stroke-width="{part.width:g}"{dashed}{head}/>'
            )


@cache
def _width(words: str, size: int, is_code: bool = False) -> float:
    from matplotlib.font_manager import findfont
    from PIL import ImageFont

    font = ImageFont.truetype(findfont("DejaVu Sans Mono" if is_code else "DejaVu Sans"), 100)
    return font.getlength(words.replace("&gt;", ">").replace("&lt;", "<")) * size / 100


def first_kernel(*, narrow: bool = False) -> Drawing:
    """Three blocks of four threads over eleven elements: the last thread has none."""
    d = Drawing(360, 592) if narrow else Drawing(720, 250)
    d.words(20, 24, "grid: 3 blocks of 4 threads", anchor="start", colour=MUTED)
    for block, colour in enumerate((BLUE, GREEN, PURPLE)):
        left, top = (72, 36 + block * 176) if narrow else (20 + block * 230, 36)
        d.box(left, top, 216, 78, colour)
        d.words(left + 108, top + 18, f"blockIdx.x = {block}")
        for thread in range(4):
            x = left + 10 + thread * 50
            d.box(x, top + 28, 44, 40, colour, str(thread))
            i = 4 * block + thread
            if i < 11:
                d.arrow(x + 22, top + 70, x + 22, top + 124, colour)
                d.box(x, top + 128, 44, 36, MUTED, f"x[{i}]")
            else:
                for line, words in enumerate(("i &gt;= n", "does", "nothing")):
                    d.words(x + 22, top + 112 + 18 * line, words, colour=MUTED)
    d.words(d.width / 2, d.height - 18, "i = threadIdx.x + blockIdx.x * blockDim.x")
    return d


def how_to_time() -> Drawing:
    """Two lanes of time: the host launches and goes on, the device starts later."""
    d = Drawing(720, 280)
    d.words(10, 106, "host", anchor="start")
    d.words(10, 186, "device", anchor="start")
    d.line(90, 118, 700, 118)
    d.line(90, 198, 700, 198)
    d.box(110, 80, 110, 36, BLUE, "launch")
    d.box(220, 80, 272, 36, MUTED, "free for other work")
    d.box(492, 80, 68, 36, ORANGE, "waits")
    d.arrow(165, 120, 240, 156, BLUE, dash="4 3")
    d.box(240, 160, 320, 36, GREEN, "kernel")
    d.arrow(560, 158, 560, 122, GREEN, dash="4 3")
    for x, low in ((110, 232), (220, 232), (560, 258)):
        d.line(x, 58, x, low, dash="3 3")
    d.words(106, 48, "start", anchor="end")
    for x, how in ((220, "stop, not"), (560, "stop,")):
        d.words(x, 26, how)
        d.words(x, 48, "synchronised")
    d.arrow(165, 226, 112, 226)
    d.arrow(165, 226, 218, 226)
    d.words(165, 248, "the launch", colour=MUTED)
    d.arrow(400, 226, 242, 226, GREEN)
    d.arrow(400, 226, 558, 226, GREEN)
    d.words(400, 248, "by the device's clock", colour=MUTED)
    return d


def know_your_gpu() -> Drawing:
    """From the host's memory over PCIe to the device's memory, its L2 cache and its multiprocessors."""
    d = Drawing(720, 226)
    d.box(10, 66, 112, 104, ORANGE)
    d.words(66, 112, "host")
    d.words(66, 134, "memory")
    d.words(166, 100, "PCIe")
    _ways(d, 126, 206, 118, 1, ORANGE)
    d.box(210, 16, 500, 198, BLUE)
    d.words(224, 40, "device", anchor="start")
    d.box(224, 66, 116, 104, BLUE)
    d.words(282, 112, "device")
    d.words(282, 134, "memory")
    _ways(d, 344, 410, 118, 2, BLUE)
    d.box(414, 66, 88, 104, GREEN)
    d.words(458, 112, "L2")
    d.words(458, 134, "cache")
    _ways(d, 506, 566, 118, 3, GREEN)
    for row in range(4):
        for column in range(4):
            d.box(572 + column * 32, 66 + row * 27, 28, 23, PURPLE)
    d.words(702, 196, "multiprocessors", anchor="end")
    return d


def _ways(d: Drawing, left: float, right: float, middle: float, n: int, colour: str) -> None:
    """Draw as many arrows each way as the way is wide."""
    for k in range(n):
        d.arrow(left, middle - 8 - k * 14, right, middle - 8 - k * 14, colour, width=2)
        d.arrow(right, middle + 8 + k * 14, left, middle + 8 + k * 14, colour, width=2)


def sparse_lookup() -> Drawing:
    """Two queries beside each other, each halving its own range of one sorted array."""
    d = Drawing(720, 276)
    keys = (2, 5, 8, 11, 17, 23, 29, 31, 40, 44, 52, 58, 63, 71, 80)
    left, cell = 16, 46
    d.words(left, 22, "keys, sorted", anchor="start", colour=MUTED)
    for k, key in enumerate(keys):
        d.box(left + k * cell, 32, cell - 4, 32, BLUE, str(key))
    for thread, query, y, places, colour in (
        (0, 23, 88, (7, 3, 5), GREEN),
        (1, 60, 166, (7, 11, 13, 12), PURPLE),
    ):
        d.words(left, y, f"thread {thread} looks for {query}", anchor="start")
        low, high = 0, len(keys) - 1
        for step, place in enumerate(places):
            x, top = left + cell / 2 - 2 + place * cell, y + 10 + step * 14
            d.box(left + low * cell, top, (high - low) * cell + cell - 4, 10, colour)
            d.line(x, top - 2, x, top + 12, colour)
            if place < places[-1]:
                low = place + 1
            else:
                high = max(place - 1, low)
    d.words(360, 262, "each step halves the range in which the key can be", colour=MUTED)
    return d


def write(*drawings: Callable[..., Drawing]) -> None:
    """Write drawings, light and dark, and those that are wider than a phone in a form for it as well."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for draw in drawings:
        forms = {"": draw()}
        if forms[""].width > _NARROW_WIDTH:
            has_own = "narrow" in signature(draw).parameters
            forms["-narrow"] = draw(narrow=True) if has_own else forms[""].squeezed()
        for form, drawing in forms.items():
            if faults := drawing.faults():
                raise SystemExit(f"{draw.__name__}{form}: {'; '.join(faults)}. Write less, or make room.")
            svg = drawing.svg()
            (FOLDER / f"{draw.__name__}{form}.svg").write_text(svg, encoding="utf-8")
            (FOLDER / f"{draw.__name__}{form}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    write(first_kernel, how_to_time, know_your_gpu, sparse_lookup)
