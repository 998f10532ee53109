"""The marks charts are made of: lines, ranges, labels at line ends, brackets, axes of sizes and times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.charts.style import INK, MUTED, RANGES_SAID
from gpuguide.errors import ArgumentError
from gpuguide.results.records import Fact, FactOverStarts
from gpuguide.results.starts import Quantity
from gpuguide.results.units import REGIONS, format_quantity, size_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gpuguide.charts.things import Look
    from gpuguide.results.results import Results

__all__ = [
    "END_OF_A_LINE",
    "End",
    "Ranged",
    "draw_ranges",
    "draw_series",
    "label_ends",
    "mark_crossover",
    "mark_floor",
    "marker_of",
    "measured_names",
    "new_axes",
    "over_starts",
    "size_axis",
    "time_axis",
    "timed_words",
    "written",
]

#: A line's end: x, y, label, colour.
End = tuple[float, float, str, str]

#: A drawn number: where it stands on the other axis, the number, its colour.
Ranged = tuple[float, Quantity | Fact, str]

#: Label of the artist that writes a line's name at its end.
END_OF_A_LINE = "name at the end of a line"

_MARKERS = "osD^vPX*"
#: How wide the marks of a chart are, the hollow and larger ones left out.
_MARK_POINTS = 5.5
_NAMES_APART_POINTS = 14.0


def new_axes(ax: Axes | None, height: float | None = None) -> Axes:
    """Return the given axes, or fresh ones in the current style, of another height in inches if given."""
    if ax is not None:
        return ax
    # Imported here, so that `import gpuguide` needs no Matplotlib.
    import matplotlib.pyplot as plt

    width, usual = plt.rcParams["figure.figsize"]
    return plt.subplots(figsize=(width, height or usual))[1]


def measured_names(results: Results, variants: Sequence[str] | None, clock: str | None) -> list[str]:
    """Return the wanted variants that have samples, in the study's order."""
    names = [info.name for info in results.variants] if variants is None else list(variants)
    for name in names:
        # Only for its error: below, an unknown name would be left out like a variant without samples.
        results.variant(name)
    return [name for name in names if len(results.series(name, clock)[0])]


def marker_of(results: Results, name: str) -> str:
    """Return the marker of a variant: the same in every chart of a study."""
    return _MARKERS[[info.name for info in results.variants].index(name) % len(_MARKERS)]


def draw_series(
    ax: Axes, results: Results, name: str, look: Look, clock: str | None
) -> tuple[End, list[Ranged]]:
    """Draw one variant's medians over the starts, and return where the line ends and what it goes through."""
    x, y = results.series(name, clock)
    colour = look.colour
    ax.plot(x, y, color=colour, marker=marker_of(results, name), linestyle=look.dashes)
    spans = [
        i
        for i, size in enumerate(x)
        if any(run.measurement(name, size, clock).host_bound for run in results.runs)
    ]
    if spans:
        ax.plot(
            [x[i] for i in spans],
            [y[i] for i in spans],
            linestyle="none",
            marker=marker_of(results, name),
            markerfacecolor="none",
            markeredgecolor=colour,
            markersize=10,
        )
    times: list[Ranged] = [(size, results.time(name, size, clock), colour) for size in x]
    return (x[-1], y[-1], results.variant(name).label, colour), times


def draw_ranges(ax: Axes, drawn: Iterable[Ranged], *, along: str = "y", scale: float = 1.0) -> bool:
    """Draw where another machine start is expected to lie, as thin bars through the marks.

    This is the one place that decides which ranges are worth drawing: those that reach beyond their mark. A
    number from fewer than three machine starts has none. The first bar of a chart is explained below the axis
    and in the alternative text. Call it once, when the limits of the axes are final.
    """
    if along not in ("x", "y"):
        raise ArgumentError(f"draw_ranges: expected along 'x' or 'y'; got {along!r}.")
    ranges = [
        (at, scale * over.low, scale * over.high, colour)
        for at, number, colour in drawn
        if (over := over_starts(number)) is not None
    ]
    # All are judged by the same limits, before the first bar moves them.
    shown = [each for each in ranges if _leaves_its_mark(ax, *each[:3], along)]
    lines: Any = ax.vlines if along == "y" else ax.hlines
    for at, low, high, colour in shown:
        # Above the lines that join marks; a bar cannot be seen on a mark of its own colour.
        lines(at, low, high, color=colour, linewidth=1.5, zorder=2.1)
        _make_room(ax, low, high, along)
    # Several series may be drawn into one chart.
    if shown and RANGES_SAID not in (text.get_text() for text in ax.texts):
        ax.annotate(
            RANGES_SAID,
            (0.5, 0),
            xycoords=ax.xaxis.label,
            xytext=(0, -3),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8.5,
            color=MUTED,
            annotation_clip=False,
        )
    return bool(shown)


def over_starts(number: float | Quantity | Fact) -> Quantity | None:
    """Return a number with its range over the machine starts; None where it has none."""
    over = number.over if isinstance(number, FactOverStarts) else number
    return over if isinstance(over, Quantity) and over.has_range else None


def _leaves_its_mark(ax: Axes, at: float, low: float, high: float, along: str) -> bool:
    """Tell whether a range is longer than a mark is wide."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    ends = [(at, low), (at, high)] if along == "y" else [(low, at), (high, at)]
    # Asking for the limits settles them.
    ax.get_xlim(), ax.get_ylim()
    first, last = ax.transData.transform(ends)
    # From pixels to points, in which marks are measured.
    length = np.hypot(*(last - first)) * 72 / figure.dpi
    return bool(length > _MARK_POINTS)


def _make_room(ax: Axes, low: float, high: float, along: str) -> None:
    """Widen an axis whose limits were set, so that a range does not leave it."""
    first, last = getattr(ax, f"get_{along}bound")()
    if low < first or high > last:
        # Through the scale, so that there is room beyond the end on a logarithmic axis as well.
        scale = getattr(ax, f"{along}axis").get_transform()
        ends = scale.transform([min(low, first), max(high, last)])
        margin = 0.03 * (ends[1] - ends[0])
        wider = scale.inverted().transform([ends[0] - margin, ends[1] + margin])
        lower = first if low >= first else wider[0]
        getattr(ax, f"set_{along}bound")(lower, last if high <= last else wider[1])


def label_ends(ax: Axes, ends: Sequence[End]) -> None:
    """Write each line's name at its end, moved apart so that no two names touch."""
    if not ends:
        raise ArgumentError("nothing was measured that could be drawn")
    figure = ax.get_figure(root=True)
    assert figure is not None
    # Asking for the limits settles them. The layout, which takes longer, moves the axes little afterwards.
    ax.get_xlim(), ax.get_ylim()
    to_points = 72 / figure.dpi
    heights = [ax.transData.transform((x, y))[1] * to_points for x, y, _, _ in ends]
    order = np.argsort(heights)
    placed = np.array(heights, dtype=float)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + _NAMES_APART_POINTS)
    # Names were only pushed up; moving all of them back centres them on the ends of their lines.
    placed -= (placed - heights).mean()
    for (x, y, label, colour), height, target in zip(ends, heights, placed, strict=True):
        name = ax.annotate(
            label,
            (x, y),
            xytext=(9, target - height),
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight="bold",
            fontsize=9.5,
            annotation_clip=False,
        )
        # A narrow chart has a legend instead.
        name.set_label(END_OF_A_LINE)


def mark_crossover(ax: Axes, results: Results, slower: str, faster: str) -> None:
    """Shade the two measured sizes between which ``faster`` overtakes ``slower``, and say so."""
    bracket = results.crossover(slower, faster)
    if bracket is None:
        return
    low, high = bracket.slower_at, bracket.faster_at
    ax.axvspan(low, high, color=MUTED, alpha=0.16, linewidth=0)
    ax.annotate(
        f"{results.variant(faster).label} overtakes\n{results.variant(slower).label}\n"
        f"from {size_words(low)} to {size_words(high)}",
        # The middle between two sizes on a logarithmic axis.
        (np.sqrt(low * high), 0.98),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="top",
        fontsize=8.5,
        color=INK,
    )


def mark_floor(ax: Axes, results: Results, variant: str) -> None:
    """Draw the time of an empty kernel on the clock of a variant's cells, where one was timed."""
    cells = [results.measurement(variant, size) for size in results.series(variant).sizes]
    floors = [(cell.size, cell.floor_ns / 1e9) for cell in cells if cell.floor_ns]
    if not floors:
        return
    sizes, times = zip(*floors, strict=True)
    ax.plot(sizes, times, color=MUTED, linewidth=1, linestyle=(0, (2, 2)), zorder=1)
    ax.set_ylim(bottom=min(ax.get_ylim()[0], min(times) / 2.5))  # room for the words
    ax.annotate(
        "an empty kernel",
        floors[0],
        xytext=(0, -4),
        textcoords="offset points",
        va="top",
        fontsize=8.5,
        color=INK,
    )


def size_axis(ax: Axes, results: Results) -> None:
    """Make x a logarithmic axis of the measured sizes."""
    from matplotlib.ticker import FixedLocator, NullLocator

    ax.set_xscale("log")
    sizes = [size for size in results.sizes if size > 0]
    if len(sizes) == 1:
        # Else the axis would have no length where several axes share it.
        ax.update_datalim([(sizes[0] / 3, 1), (3 * sizes[0], 1)], updatey=False)
    # Sizes that lie close together would print over one another.
    gap = np.log(sizes[-1] / sizes[0]) / 11 if sizes else 0.0
    kept = sizes[:1]
    for size in sizes[1:]:
        if np.log(size / kept[-1]) >= gap:
            kept.append(size)
    ax.xaxis.set_major_locator(FixedLocator(kept))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(lambda value, _: size_words(round(value)))
    ax.set_xlabel(results.size_name)


def time_axis(ax: Axes, axis: str = "y") -> None:
    """Make an axis logarithmic in seconds, labelled in ns, µs, ms and s."""
    from matplotlib.ticker import LogLocator, NullFormatter

    getattr(ax, f"set_{axis}scale")("log")
    ticks = getattr(ax, f"{axis}axis")
    ticks.set_major_locator(LogLocator(base=10, numticks=8))
    ticks.set_major_formatter(lambda value, _: _decade(value))
    # At 2 and 5 of each decade: eight marks would look like a comb and be slow to draw.
    ticks.set_minor_locator(LogLocator(base=10, subs=(2, 5), numticks=16))
    ticks.set_minor_formatter(NullFormatter())


def _decade(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        # A decade may come as 0.000999999, which is 1 ms.
        if seconds >= 0.9999 * scale:
            return f"{seconds / scale:.4g} {unit}"
    return format_quantity(seconds, "s")


def written(value: Quantity | Fact) -> str:
    """Write a number as the text of a page does."""
    return value.shown if isinstance(value, Fact) else str(value)


def timed_words(results: Results, names: Sequence[str], clock: str | None) -> str:
    """Say which part was timed and the state of the caches, for an axis label."""
    clocks = [clock or results.variant(name).clock for name in names if results.variant(name).device == "gpu"]
    regions = list(dict.fromkeys(REGIONS[name].axis for name in clocks)) or [REGIONS["host"].axis]
    words = regions[0] if len(regions) == 1 else "clocks differ"
    return words if results.cache == "warm" else f"{words}, caches empty"
