"""The directive ``roofline``: each recorded kernel below the limits of its machine, as a link to its page."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.charts.style import CUPY, LIBRARY
from gpuguide.charts.things import thing_of
from gpuguide.recordings.recording import machine_name
from gpuguide.results.ceilings import Ceilings, in_l2
from gpuguide.results.units import format_quantity, size_words
from gpuguide_docs.show.cells import fold
from gpuguide_docs.show.drawn import choices_box
from gpuguide_docs.show.guide import states_of
from gpuguide_docs.show.numbers import NOT_MEASURED
from gpuguide_docs.show.site import link_to, site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["Point", "RooflineDirective", "chart", "points_of", "setup"]

_LABEL = re.compile(r"(\w+):(\w+)\[(\w+)\]\s+(.+)")
_UNITS = {
    "fp32": "float32",
    "fp64": "float64",
    "fp64_tensor": "float64 tensor",
    "tf32": "TF32",
    "fp16_tensor": "float16 tensor",
    "bf16_tensor": "bfloat16 tensor",
}
_THINGS = {CUPY: "gg-of-cupy", LIBRARY: "gg-of-library"}
_HEADS = ("Kernel", "Size", "FLOP/byte", "Rate", "Of its limit")
_ALT = "Operations per second against operations per byte, below the limits of the GPU:"
_LEGEND = (
    "Each point is a kernel at its largest size, and leads to its page. Circle: float32, square: float64, "
    "diamond: tensor cores. Blue: CuPy, purple: another library, orange: a kernel of this guide. Hollow: the "
    "L2 cache holds part of the data. Limits: "
)
#: Before the name of a document, in the place of an address.
_TO = "page:"
_QUIET = ' class="gg-quiet"'
_PREFIXES = {6: "M", 9: "G", 12: "T", 15: "P"}
# Of which one line and one label would lie on those of the other.
_SAME_LINE = 1.5
# Pixels from a point to its words: beside it, or at the end of a line that leads to them.
_BESIDE, _FARTHEST, _STEP = 9, 170, 6
# Pixels that a place may be farther away, rather than that its line crosses a point, or one that is named.
_PER_POINT, _PER_NAMED = 9, 60
_RADIUS, _NAMED_RADIUS = 3.2, 5.5

# The cosine from which on words stand to the right or the left of where they are led to.
_SIDEWAYS = 0.35

_Box = tuple[float, float, float, float]


class _Place(NamedTuple):
    """Where words stand, and the line that leads to them, if they are not beside their point."""

    x: float
    y: float
    anchor: str
    leader: tuple[tuple[float, float], tuple[float, float]] | None = None


@dataclass(frozen=True)
class Point:
    """A variant at the largest size at which it was measured; ``share`` is empty where caches serve it."""

    key: tuple[str, str, str]
    label: str
    size: str
    unit: str
    intensity: float
    rate: float
    shown: str
    share: str
    look: str

    def words(self, page: Page) -> str:
        """Name it together with its page."""
        return f"{page.title.partition(':')[0]}: {self.label}"


def points_of(page: str, recording: Recording, ceilings: Ceilings) -> Iterator[Point]:
    """Give the kernels of a recording whose traffic model counts both operations and bytes."""
    limits = {item.mix: item.value for item in ceilings.items}
    for study, results in recording.studies.items():
        for info in results.variants:
            cells = [results.measurement(info.name, size) for size in sorted(results.sizes)]
            counted = [cell for cell in cells if cell.n and cell.traffic and cell.traffic.flops]
            if info.device != "gpu" or info.clock != "device" or not counted:
                continue
            cell = counted[-1]
            traffic = cell.traffic
            assert traffic is not None
            if not traffic.bytes_total:
                continue
            rate = results.quantity(info.name, cell.size, "flop_rate")
            intensity = traffic.flops / traffic.bytes_total
            slope, flat = intensity * ceilings.for_traffic(traffic), limits.get(traffic.unit, math.inf)
            is_cached = slope < flat and in_l2(cell, results.l2_bytes)
            share = min(1.0, rate.value / min(slope, flat))
            yield Point(
                (page, study, info.name),
                info.label or info.name,
                f"{size_words(cell.size)} {results.size_name}",
                traffic.unit,
                intensity,
                rate.value,
                str(rate),
                "" if is_cached else format_quantity(share, "share"),
                f"{_THINGS.get(thing_of(info), 'gg-of-kernel')}{' gg-cached' * is_cached}",
            )


# The chart ------------------------------------------------------------------------------------------------


class _Chart:
    """An SVG with logarithmic axes: operations per byte, and operations per second."""

    def __init__(self, points: Sequence[Point], ceilings: Ceilings, *, narrow: bool) -> None:
        self.points, self.narrow = points, narrow
        self.width, self.height, self.size = (360, 420, 11.5) if narrow else (760, 390, 13.0)
        self.left, self.right, self.top, self.bottom = 46, self.width - 8, 22, self.height - 40
        self.memory = ceilings.get("read").value
        self.limits = _limits(points, ceilings)
        self.most = self.limits[-1][0]
        intensities = [self.most / self.memory, *(point.intensity for point in points)]
        self.xs = math.log10(min(intensities) / 1.6), math.log10(2 * max(intensities))
        self.ys = math.floor(math.log10(min(point.rate for point in points))), math.log10(2.5 * self.most)
        self.parts: list[str] = []
        #: Boxes of the words and of the lines, and of the points with what it costs to cross one.
        self.words: list[_Box] = []
        self.lines: list[_Box] = []
        self.marks: list[tuple[_Box, int]] = []

    def x(self, intensity: float) -> float:
        first, last = self.xs
        return self.left + (self.right - self.left) * (math.log10(intensity) - first) / (last - first)

    def y(self, rate: float) -> float:
        first, last = self.ys
        return self.bottom - (self.bottom - self.top) * (math.log10(rate) - first) / (last - first)

    def box_of(self, x: float, y: float, words: str, anchor: str) -> _Box:
        """Give the box of words that stand at a place."""
        width = 0.58 * self.size * len(words)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
        return left, y - 0.75 * self.size, left + width, y + 2

    def is_free(self, box: _Box) -> bool:
        """Say whether words in this box would touch nothing, and stay in the chart."""
        taken = (*self.words, *self.lines, *(mark for mark, _ in self.marks))
        return box[0] >= 0 and box[2] <= self.width and not any(_touch(box, other) for other in taken)

    def write(self, x: float, y: float, words: str, anchor: str, *, quiet: bool = False) -> bool:
        """Write words, unless they would touch others or leave the chart."""
        box = self.box_of(x, y, words, anchor)
        if not self.is_free(box):
            return False
        self.words.append(box)
        look = f'text-anchor="{anchor}"{_QUIET * quiet}'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(words)}</text>')
        return True

    def draw_grid(self) -> None:
        """Draw a line for each power of ten."""
        for power in range(self.ys[0], math.floor(self.ys[1]) + 1):
            y, unit = self.y(10.0**power), max(p for p in _PREFIXES if p <= max(power, 6))
            self.parts.append(f'<path class="gg-grid" d="M{self.left} {y:.1f}H{self.right}"/>')
            self.write(self.left - 5, y + 4, f"{10 ** (power - unit):g} {_PREFIXES[unit]}", "end")
        for power in range(math.ceil(self.xs[0]), math.floor(self.xs[1]) + 1):
            x = self.x(10.0**power)
            self.parts.append(f'<path class="gg-grid" d="M{x:.1f} {self.top}V{self.bottom}"/>')
            self.write(x, self.bottom + 16, f"{10.0**power:g}", "middle")
        self.write(6, self.top - 8, "FLOP/s", "start")
        self.write(self.right, self.height - 6, "operations per byte", "end")

    def draw_limits(self) -> None:
        """Draw the slope, and a line for each unit; lines that lie side by side share their words.

        Their rates stand below the chart: with them, the words would cover points.
        """
        first, knee = 10 ** self.xs[0], self.most / self.memory
        slope = f"M{self.left} {self.y(self.memory * first):.1f}L{self.x(knee):.1f} {self.y(self.most):.1f}"
        self.parts.append(f'<path class="gg-limit" d="{slope}"/>')
        words = f"memory: {format_quantity(self.memory, 'B/s')}"
        for part in (0.5, 0.7, 0.9):
            at = first * (knee / first) ** part
            if self.write(self.x(at) - 8, self.y(self.memory * at), words, "end", quiet=True):
                break
        groups: list[list[tuple[float, str]]] = []
        for limit, unit in self.limits:
            y = self.y(limit)
            self.parts.append(
                f'<path class="gg-limit" d="M{self.x(limit / self.memory):.1f} {y:.1f}H{self.right}"/>'
            )
            if groups and limit < _SAME_LINE * groups[-1][0][0]:
                groups[-1].append((limit, unit))
            else:
                groups.append([(limit, unit)])
        for number, group in enumerate(groups):
            words = ", ".join(_UNITS[unit] for _, unit in reversed(group))
            # Above its line, unless the next one is too close.
            above, below = self.y(group[-1][0]) - 5, self.y(group[0][0]) + self.size + 1
            next_one = self.y(groups[number + 1][0][0]) if number + 1 < len(groups) else 0
            at = above if above - next_one > self.size else below
            self.write(self.right, at, words, "end", quiet=True)
        for limit, _ in self.limits:
            self.lines.append((self.x(limit / self.memory), self.y(limit) - 1, self.right, self.y(limit) + 1))
        self.lines += _along((self.left, self.y(self.memory * first)), (self.x(knee), self.y(self.most)))

    def draw_points(self, pages: Mapping[str, Page], named: Collection[tuple[str, str, str]]) -> None:
        """Draw each point as a link to its page, and the named ones larger and above the others."""
        for point in sorted(self.points, key=lambda point: point.key in named):
            page, intensity = pages[point.key[0]], format_quantity(point.intensity, "1")
            share = f"{point.share} of its limit" if point.share else "partly in the L2 cache"
            about = f"{point.words(page)}, {point.size}; {intensity} FLOP/byte; {point.shown}; {share}"
            x, y = self.x(point.intensity), self.y(point.rate)
            radius, price = (_NAMED_RADIUS, _PER_NAMED) if point.key in named else (_RADIUS, _PER_POINT)
            # Words of other points keep away from it, and its own begin beside it.
            self.marks.append(((x - radius, y - radius, x + radius, y + radius), price))
            link = f'<a href="{_TO}{page.docname}" class="{point.look}" tabindex="-1">'
            self.parts.append(f"{link}<title>{escape(about)}</title>{_mark(point.unit, x, y, radius)}</a>")

    def draw_labels(self, labels: Mapping[tuple[str, str, str], str]) -> None:
        """Write beside points, in the order of the page's lines, or where a short line leads to the words."""
        by_key = {point.key: point for point in self.points}
        for key, words in labels.items():
            if key not in by_key:
                continue
            x, y = self.x(by_key[key].intensity), self.y(by_key[key].rate)
            place = self.place_for(x, y, words)
            if place is None:
                continue
            self.write(place.x, place.y, words, place.anchor)
            if place.leader:
                (from_x, from_y), (to_x, to_y) = place.leader
                self.parts.append(
                    f'<path class="gg-leader" d="M{from_x:.1f} {from_y:.1f}L{to_x:.1f} {to_y:.1f}"/>'
                )
                self.lines += _along(*place.leader)

    def place_for(self, x: float, y: float, words: str) -> _Place | None:
        """Find the nearest free place for a point's words, beside it or at the end of a line."""
        best: tuple[float, _Place] | None = None
        for distance in range(_BESIDE, _FARTHEST, _STEP):
            for angle in range(0, 360, 15):
                right, up = math.cos(math.radians(angle)), math.sin(math.radians(angle))
                end = x + distance * right, y - distance * up
                if abs(right) > _SIDEWAYS:
                    gap = 3 * (distance > _BESIDE)
                    side, anchor = (gap, "start") if right > 0 else (-gap, "end")
                    place = _Place(end[0] + side, end[1] + 0.34 * self.size, anchor)
                else:
                    below = 0.75 * self.size + 2 if up < 0 else -3
                    place = _Place(end[0], end[1] + below, "middle")
                box = self.box_of(place.x, place.y, words, place.anchor)
                if box[0] < self.left or box[3] > self.bottom or not self.is_free(box):
                    continue
                leader = (x + _BESIDE * right, y - _BESIDE * up), end
                way = _along(*leader) if distance > _BESIDE else []
                if any(_touch(piece, word) for piece in way for word in self.words):
                    continue
                prices = (price for mark, price in self.marks if any(_touch(piece, mark) for piece in way))
                cost = distance + sum(prices) + (angle % 180 > 0)
                if best is None or cost < best[0]:
                    best = cost, place._replace(leader=leader if way else None)
            if best and best[0] <= distance + _STEP:
                break
        return best[1] if best else None

    def svg(self) -> str:
        """Give what was drawn."""
        form, alt = "gg-narrow" if self.narrow else "gg-wide", f"{_ALT} {len(self.points)} kernels."
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gg-roofline {form}" role="group" '
            f'viewBox="0 0 {self.width} {self.height}" font-size="{self.size}" aria-label="{alt}">'
            f"{''.join(self.parts)}</svg>"
        )


def chart(
    points: Sequence[Point],
    ceilings: Ceilings,
    labels: Mapping[tuple[str, str, str], str],
    pages: Mapping[str, Page],
    *,
    narrow: bool = False,
) -> str:
    """Draw the chart as SVG, in which links name the documents of pages."""
    drawn = _Chart(points, ceilings, narrow=narrow)
    drawn.draw_grid()
    drawn.draw_limits()
    drawn.draw_points(pages, labels)
    drawn.draw_labels(labels)
    return drawn.svg()


def _limits(points: Iterable[Point], ceilings: Ceilings) -> list[tuple[float, str]]:
    """Give the rate and the name of each unit that a kernel of the chart uses, the slowest first."""
    units = {"fp32", *(point.unit for point in points)}
    return sorted((item.value, item.mix) for item in ceilings.items if item.mix in units)


def _rates(points: Iterable[Point], ceilings: Ceilings) -> str:
    """Say what each limit is."""
    rates = [f"{_UNITS[unit]} {format_quantity(rate, 'FLOP/s')}" for rate, unit in _limits(points, ceilings)]
    return ", ".join([f"memory {format_quantity(ceilings.get('read').value, 'B/s')}", *rates])


def _touch(box: _Box, other: _Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _along(start: tuple[float, float], end: tuple[float, float]) -> list[_Box]:
    """Cover a line with small boxes."""
    (x, y), (to_x, to_y) = start, end
    n = 1 + int(math.hypot(to_x - x, to_y - y) / 2)
    centres = ((x + (to_x - x) * k / n, y + (to_y - y) * k / n) for k in range(n + 1))
    return [(cx - 1, cy - 1, cx + 1, cy + 1) for cx, cy in centres]


def _mark(unit: str, x: float, y: float, radius: float) -> str:
    """Give a circle for float32, a square for float64 and a diamond for tensor cores."""
    if unit == "fp32":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
    if unit == "fp64":
        side = 1.8 * radius
        return f'<path d="M{x - side / 2:.1f} {y - side / 2:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z"/>'
    half = 1.3 * radius
    corners = f"l{half:.1f} {half:.1f}l-{half:.1f} {half:.1f}l-{half:.1f} -{half:.1f}z"
    return f'<path d="M{x:.1f} {y - half:.1f}{corners}"/>'


# The directive --------------------------------------------------------------------------------------------


class roofline_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """The chart: attribute ``svg``. As raw HTML, its words would be searched."""


class RooflineDirective(SphinxDirective):
    """``.. roofline::`` draws each machine's kernels, from all recordings that are current.

    Each line names a point: ``page:study[variant] WORDS``. A table of all points is folded below the chart.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw the chart of each machine, the one of most pages first."""
        site = site_of(self.env)
        # A new page makes a new point.
        self.env.note_dependency(str(site.layout.pages_toml))
        # As for any other chart.
        for path in states_of(site.layout).drawing_code:
            self.env.note_dependency(path)
        pages = {page.name: page for page in site.pages if page.format == "script" and page.needs.gpus == 1}
        measured: dict[str, list[Recording]] = {}
        for name in pages:
            state = site.state(name, self.env)
            for recording in (state.shown, *state.others):
                if recording and recording.ceilings:
                    measured.setdefault(recording.machine, []).append(recording)
        drawn: list[tuple[str, list[Point], Ceilings]] = []
        for recordings in sorted(measured.values(), key=len, reverse=True):
            ceilings = Ceilings.over_starts(
                [(r.provenance.start, r.ceilings) for r in recordings if r.ceilings]
            )
            points = [point for r in recordings for point in points_of(r.page, r, ceilings)]
            if points:
                drawn.append((machine_name(recordings[0]), points, ceilings))
        shown = {recording.page for recordings in measured.values() for recording in recordings}
        labels = self._labels(pages, shown, {point.key for _, points, _ in drawn for point in points})
        panels: list[list[nodes.Node]] = []
        for name, points, ceilings in drawn:
            svgs = (chart(points, ceilings, labels, pages, narrow=narrow) for narrow in (False, True))
            legend = nodes.paragraph("", f"{_LEGEND}{_rates(points, ceilings)}.", classes=["gg-byline"])
            parts: list[nodes.Node] = [*(roofline_node("", svg=svg) for svg in svgs), legend]
            table = fold(f"Every kernel of the chart, on {name}", self._table(points, pages))
            table["at_end"] = True
            panels.append([nodes.container("", *parts, classes=["gg-chart"]), table])
        if len(panels) > 1:
            return [choices_box(self.env, ["Measured on"], [[name] for name, *_ in drawn], panels)]
        waits = nodes.paragraph("", NOT_MEASURED.capitalize() + ".", classes=["gg-placeholder"])
        return panels[0] if panels else [waits]

    def _labels(
        self, pages: Mapping[str, Page], shown: set[str], known: set[tuple[str, str, str]]
    ) -> dict[tuple[str, str, str], str]:
        """Read the lines; a kernel that is not in the chart is an error, unless its page has no recording."""
        labels = {}
        for line in filter(None, map(str.strip, self.content)):
            match = _LABEL.fullmatch(line)
            key = (match[1], match[2], match[3]) if match else ("", "", "")
            if key[0] not in pages or (key[0] in shown and key not in known):
                raise self.error(
                    f"roofline: no kernel of the chart is named by {line!r}: 'page:study[variant] words'"
                )
            labels[key] = match[4] if match else ""
        return labels

    def _table(self, points: Iterable[Point], pages: Mapping[str, Page]) -> nodes.table:
        group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (40, 25, 10, 15, 10)), cols=5)
        group += nodes.thead("", _row([nodes.Text(head) for head in _HEADS]))
        body = nodes.tbody()
        for point in points:
            page = pages[point.key[0]]
            link = link_to(self.env.docname, "doc", f"/{page.docname}", point.words(page))
            cells = (point.size, format_quantity(point.intensity, "1"), point.shown, point.share or "in L2")
            body += _row([link, *map(nodes.Text, cells)])
        group += body
        return nodes.table("", group)


def _row(cells: Iterable[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def _visit(writer: Any, node: roofline_node) -> None:
    # Only now, since what another builder has read may be written here.
    builder = writer.builder
    writer.body.append(
        re.sub(
            f'(?<=href="){_TO}([^"]+)',
            lambda match: builder.get_relative_uri(builder.current_docname, match[1]),
            node["svg"],
        )
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_node(roofline_node, html=(_visit, None))
    app.add_directive("roofline", RooflineDirective)
