"""Charts at one size or of no size: all samples, what a time is made of, a heat map."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.charts.marks import (
    draw_ranges,
    measured_names,
    new_axes,
    over_starts,
    time_axis,
    timed_words,
    written,
)
from gpuguide.charts.style import CUPY, INK, KERNEL, MUTED, SERIES, describe, style
from gpuguide.charts.things import Look, is_copy_words, looks_of, thing_in_words
from gpuguide.errors import ArgumentError
from gpuguide.results.records import Fact
from gpuguide.results.starts import Quantity
from gpuguide.results.units import format_quantity, size_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from gpuguide.results.results import Results

__all__ = [
    "plot_bars",
    "plot_decomposition",
    "plot_dots",
    "plot_heatmap",
    "plot_ratios",
    "plot_samples",
    "plot_values",
]

# Inches. No wider than a chart for a phone, so that it has no other form there.
_TILE_WIDTH = 3.6
# Of the parts of a time. What stands for a thing on all pages, such as blue for CuPy, is not among them.
_PARTS = (SERIES[2], SERIES[6], SERIES[5], SERIES[7], SERIES[4])


def plot_samples(
    results: Results,
    size: int,
    *,
    variants: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw every sample of one run at one size, a row for each variant, with its median.

    Parameters
    ----------
    results : Results
        What a study measured; of several runs the newest is drawn, the only one that keeps its samples.
    size : int
        One of the sizes of the study.
    variants : sequence of str, optional
        Names of the variants to draw; all of them by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        Time on a logarithmic axis; the vertical position inside a row is the order of the samples.

    Raises
    ------
    ArgumentError
        If nothing was measured at this size.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide.results.sample import sample_results
    >>> [tick.get_text() for tick in gg.plot_samples(sample_results(), 2**20).get_yticklabels()]
    ['NumPy', 'Numba']
    """
    with style():
        cells = [results.measurement(name, size) for name in measured_names(results, variants, None)]
        cells = [cell for cell in cells if cell.n]
        if not cells:
            raise ArgumentError(f"plot_samples: nothing was measured at size {size}; sizes: {results.sizes}")
        ax = new_axes(ax, 1.3 + 0.55 * len(cells))
        looks = looks_of(results, [cell.variant for cell in cells])
        for row, cell in enumerate(cells):
            order = np.linspace(-0.28, 0.28, cell.n) if cell.n > 1 else np.zeros(1)
            colour = looks[cell.variant].colour
            ax.plot(
                cell.samples_s, row + order, "o", color=colour, alpha=0.55, markersize=4, markeredgewidth=0
            )
            ax.plot([cell.median_s] * 2, [row - 0.38, row + 0.38], color=colour, linewidth=2.4)
        ax.set_yticks(range(len(cells)), [results.variant(cell.variant).label for cell in cells])
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        time_axis(ax, axis="x")
        names = [cell.variant for cell in cells]
        run = ", newest run" if results.others else ""
        timed = timed_words(results, names, None)
        ax.set_xlabel(f"time at {size_words(size)} {results.size_name} ({timed}{run})")
        words = (
            f"{results.variant(c.variant).label}: {c.n} samples, median {format_quantity(c.median_s, 's')}"
            for c in cells
        )
        which = "All samples of the newest run" if results.others else "All samples"
        describe(ax, f"{which} at {size} {results.size_name} on a time axis. {'; '.join(words)}.")
    return ax


def plot_bars(
    results: Results, variants: Sequence[str], *, at: int, quantity: str = "time", tile: bool = False
) -> Axes:
    """Draw one quantity of a few variants as bars with the name above each; `tile` makes it small.

    A line below says whether a longer bar is better: bars of a time are better the shorter they are.
    """
    looks = looks_of(results, list(variants), apart=False)  # each bar has its name
    bars = [
        (results.variant(name).label, results.quantity(name, at, quantity), looks[name]) for name in variants
    ]
    what = f"{quantity} at {size_words(at)} {results.size_name}"
    return _draw_bars(bars, what, tile=tile, is_share=quantity.endswith("share"))


def plot_values(values: Mapping[str, Quantity | Fact], what: str, *, colour: str = KERNEL) -> Axes:
    """Draw a few values as bars, with the label above each, as `plot_bars` does.

    A bar has the colour of what its label names, else `colour`. Where its label or `what` speaks of copies,
    it is hatched.
    """
    bars = [
        (label, value, Look(thing_in_words(label) or colour, hatched=is_copy_words(f"{label}, {what}")))
        for label, value in values.items()
    ]
    return _draw_bars(bars, what)


def plot_decomposition(
    bars: Mapping[str, Mapping[str, float | Quantity | Fact]],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw what a time is made of: one horizontal bar each, split into launch, compile, copy and work.

    Parameters
    ----------
    bars : mapping of str to mapping of str to float, Quantity or Fact
        For each bar, its parts in seconds, in drawing order. A bar with one part is a total to compare the
        others with.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        Seconds along the bar. Where a part is a quantity or a fact, a line at its end is the range in which
        another machine start's is expected.

    Raises
    ------
    ArgumentError
        If there is no bar, or a part is negative or not finite.

    Examples
    --------
    >>> from gpuguide.charts.shapes import plot_decomposition
    >>> ax = plot_decomposition({"first call": {"compile": 0.3, "work": 0.1}, "later": {"work": 0.1}})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['first call', 'later']
    """
    from matplotlib.ticker import MaxNLocator

    taken = {name: {part: _seconds(value) for part, value in bar.items()} for name, bar in bars.items()}
    parts = list(dict.fromkeys(part for bar in taken.values() for part in bar))
    flat = [seconds for bar in taken.values() for seconds in bar.values()]
    if not flat or not all(np.isfinite(s) and s >= 0 for s in flat):
        raise ArgumentError(
            f"plot_decomposition: expected bars of finite seconds of at least 0, got {dict(bars)!r}"
        )
    with style():
        ax = new_axes(ax, 1.3 + 0.62 * len(bars))
        # By part and not by bar: a part has the same colour in all bars.
        looks = _looks_of_parts(parts)
        ranges = [_part_ranges(row, bar) for row, bar in enumerate(bars.values())]
        longest = max(sum(bar.values()) for bar in taken.values())
        furthest = max([longest, *(over.high for marks in ranges for _, over, _ in marks)])
        for row, (name, bar) in enumerate(taken.items()):
            ends = [over.high for _, over, _ in ranges[row]]
            total = _total_words(list(bars[name].values()))
            _stack(ax, row, bar, looks, furthest, max([0.0, *ends]), total)
        ax.set_yticks(range(len(bars)), list(bars))
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        # The rest is room for the totals at the ends.
        ax.set_xlim(0, 1.16 * furthest)
        draw_ranges(ax, [mark for marks in ranges for mark in marks], along="x")
        # Steps of 2.5 would be rounded on the way into two digits: 12.5 ms would read 13.
        ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        ax.xaxis.set_major_formatter(lambda value, _: format_quantity(value, "s") if value else "0")
        ax.set_xlabel("time")
        # Bars of no width: labels on the drawn ones would repeat a part for each bar.
        handles = [ax.barh(0, 0, label=part, **looks[part].bar()) for part in parts]
        ax.legend(handles=handles, ncols=len(parts), loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
        words = (
            f"{name}: " + ", ".join(f"{part} {_words(value)}" for part, value in bar.items())
            for name, bar in bars.items()
        )
        describe(ax, f"Bars that split times into parts, in seconds. {'; '.join(words)}.")
    return ax


def plot_dots(values: Mapping[str, float | Quantity | Fact], label: str) -> Axes:
    """Draw a few times side by side: a dot each, on a linear axis that begins at zero."""
    from matplotlib.ticker import MaxNLocator

    taken = {name: _seconds(value) for name, value in values.items()}
    if not taken or not all(np.isfinite(s) and s >= 0 for s in taken.values()):
        raise ArgumentError(f"plot_dots: expected finite seconds of at least 0, got {dict(values)!r}")
    colours = [thing_in_words(name) or INK for name in taken]
    overs = map(over_starts, values.values())
    ranges = [(row, over, colours[row]) for row, over in enumerate(overs) if over]
    with style():
        ax = new_axes(None, 1.1 + 0.36 * len(taken))
        for row, seconds in enumerate(taken.values()):
            ax.plot(seconds, row, "o", color=colours[row])
        ax.set_yticks(range(len(taken)), list(taken))
        ax.set_ylim(len(taken) - 0.5, -0.5)
        ax.set_xlim(0, 1.08 * max(*taken.values(), *(over.high for _, over, _ in ranges), 1e-12))
        draw_ranges(ax, ranges, along="x")
        # Steps of 2.5 would be rounded on the way into two digits, as above.
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        ax.xaxis.set_major_formatter(lambda value, _: format_quantity(value, "s") if value else "0")
        ax.set_xlabel(label)
        words = "; ".join(f"{name} {_words(value)}" for name, value in values.items())
        describe(ax, f"Dots on a linear axis, {label}. {words}.")
    return ax


def plot_ratios(dots: Mapping[str, Fact], what: str, *, spans: Collection[str] = ()) -> Axes:
    """Draw ratios or shares as dots, a row for each, with the number beside it."""
    units = {fact.unit for fact in dots.values()}
    if units not in ({"ratio"}, {"share"}):
        raise ArgumentError(
            f"plot_ratios: expected ratios alone, or shares alone; got {sorted(units) or 'none'}."
        )
    from matplotlib.ticker import LogLocator

    is_share = units == {"share"}
    scale, middle = (100.0, 0.0) if is_share else (1.0, 1.0)
    places = [scale * float(fact.value) for fact in dots.values()]
    ends = [_outer_end(fact, scale, middle) for fact in dots.values()]
    with style():
        ax = new_axes(None, 1.1 + 0.32 * len(dots))
        for row, (place, end, (name, fact)) in enumerate(zip(places, ends, dots.items(), strict=True)):
            hollow: dict[str, Any] = {"markerfacecolor": "none", "markersize": 10} if name in spans else {}
            ax.plot([middle, place], [row, row], color=MUTED, linewidth=1)
            ax.plot(place, row, "o", color=thing_in_words(name) or INK, **hollow)
            # On the side away from the line, past the range, and beside a ring, which is larger.
            apart = 11 if hollow else 7
            x, side = (apart, "left") if place >= middle else (-apart, "right")
            ax.annotate(fact.shown, (end, row), (x, 0), textcoords="offset points", ha=side, va="center")
        ax.set_yticks(range(len(dots)), list(dots))
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        ax.set_xlabel(f"{what} (%)" if is_share else what)
        if is_share:
            ax.set_xlim(0, 118)  # room for the number beside a share of 100 %
            ax.set_xticks(range(0, 101, 20))
        else:
            ax.axvline(1, color=MUTED)
            ax.set_xscale("log")
            # Room for the numbers at both ends, on a phone as well, where they would lie on the rows' names.
            low, high = min(1.0, *ends), max(1.0, *ends)
            ax.set_xlim(low * (low / high) ** (0.85 if low < 1 else 0.05), high * (high / low) ** 0.2)
            if high < 10 * low:  # else powers of ten are enough, and here there may be one of them
                ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}×")
            ax.xaxis.set_minor_formatter(lambda *_: "")
        rows = [(row, fact, thing_in_words(name) or INK) for row, (name, fact) in enumerate(dots.items())]
        draw_ranges(ax, rows, along="x", scale=scale)
        words = "; ".join(f"{name} {fact.shown}" for name, fact in dots.items())
        axis = "on an axis in per cent" if is_share else "on a logarithmic axis"
        rings = f" Hollow: {', '.join(name for name in dots if name in spans)}." if spans else ""
        describe(ax, f"{what[0].upper()}{what[1:]}, {axis}: {words}.{rings}")
    return ax


def plot_heatmap(
    values: Sequence[Sequence[float]] | NDArray[Any],
    *,
    rows: Sequence[object],
    columns: Sequence[object],
    row_name: str,
    column_name: str,
    value_name: str,
    fmt: str = "{:.0f}",
    ax: Axes | None = None,
) -> Axes:
    """Draw a table of numbers as coloured cells with the numbers in them.

    Parameters
    ----------
    values : array_like, shape (len(rows), len(columns))
        The numbers; NaN leaves a cell empty.
    rows, columns : sequence
        What the rows and columns stand for.
    row_name, column_name, value_name : str
        Names of the two axes and of the number, with its unit.
    fmt : str
        How a number is written in its cell.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        The cells; a brighter one is a larger number.

    Raises
    ------
    ArgumentError
        If the shape does not fit the rows and columns, or no value is finite.

    Examples
    --------
    >>> from gpuguide.charts.shapes import plot_heatmap
    >>> words = dict(row_name="threads", column_name="items per thread", value_name="% of the ceiling")
    >>> plot_heatmap([[50, 60], [70, 95]], rows=[32, 64], columns=[1, 4], **words).get_ylabel()
    'threads'
    """
    table = np.asarray(values, dtype=float)
    if table.shape != (len(rows), len(columns)) or not np.isfinite(table).any():
        raise ArgumentError(
            f"plot_heatmap: expected finite numbers of shape {(len(rows), len(columns))}, got {table.shape}"
        )
    with style():
        ax = new_axes(ax)
        mesh = ax.pcolormesh(np.ma.masked_invalid(table), cmap="viridis", edgecolors="none")
        low, high = np.nanmin(table), np.nanmax(table)
        for row, column in np.argwhere(np.isfinite(table)):
            value = table[row, column]
            # Black on bright cells, white on dark ones: neither is a colour of the palette, so both stay.
            colour = "#000000" if value > low + 0.6 * (high - low) else "#ffffff"
            ax.text(
                column + 0.5, row + 0.5, fmt.format(value), ha="center", va="center", color=colour, fontsize=9
            )
        ax.set_xticks(np.arange(len(columns)) + 0.5, [str(c) for c in columns])
        ax.set_yticks(np.arange(len(rows)) + 0.5, [str(r) for r in rows])
        ax.set(xlabel=column_name, ylabel=row_name)
        ax.grid(visible=False)
        ax.figure.colorbar(mesh, ax=ax, label=value_name).outline.set_visible(False)
        describe(
            ax,
            f"Heat map of {value_name} by {row_name} and {column_name}, "
            f"from {fmt.format(low)} to {fmt.format(high)}.",
        )
    return ax


def _looks_of_parts(parts: Sequence[str]) -> dict[str, Look]:
    """Give the look of each part of a time: copies hatched, others in colours that stand for no thing."""
    own = iter(_PARTS * (1 + len(parts) // len(_PARTS)))
    return {part: Look(CUPY, hatched=True) if is_copy_words(part) else Look(next(own)) for part in parts}


def _draw_bars(
    bars: Sequence[tuple[str, Quantity | Fact, Look]],
    what: str,
    *,
    tile: bool = False,
    is_share: bool = False,
) -> Axes:
    """Draw bars with a name above and the value at the end of each, and say below which are better."""
    import matplotlib.pyplot as plt

    longest = 1.0 if is_share else max(float(value.value) for _, value, _ in bars)
    better = "shorter is better" if all(value.unit == "s" for _, value, _ in bars) else "longer is better"
    words = []
    with style():
        size = (_TILE_WIDTH, 0.4 + 0.62 * len(bars)) if tile else (7.2, 0.4 + 0.55 * len(bars))
        ax = plt.subplots(figsize=size)[1]
        for row, (name, value, look) in enumerate(bars):
            length, shown = float(value.value), written(value)
            ax.barh(row, length, height=0.42, **look.bar())
            ax.text(0, row - 0.26, name, va="bottom", color=INK, fontsize=11)
            end: dict[str, Any] = {"va": "center", "color": INK, "fontsize": 13, "weight": "bold"}
            ax.text(length + 0.02 * longest, row, shown, **end)
            words.append(f"{name}: {shown}")
        ax.text(0, len(bars) - 0.6, better, va="top", color=MUTED, fontsize=10)
        ax.set(xlim=(0, 1.35 * longest), ylim=(len(bars) - 0.25, -0.75))
        ax.axis("off")
        describe(ax, f"Bars of the {what}; {better}. {'; '.join(words)}.")
    return ax


def _seconds(value: float | Quantity | Fact) -> float:
    return float(value.value if isinstance(value, Quantity | Fact) else value)


def _words(value: float | Quantity | Fact) -> str:
    """Write a time with the digits that the text of a page gives it."""
    return written(value) if isinstance(value, Quantity | Fact) else format_quantity(value, "s")


def _total_words(parts: Sequence[float | Quantity | Fact]) -> str:
    if len(parts) == 1:
        return _words(parts[0])
    overs = [over for part in parts if (over := over_starts(part))]
    ends = (sum(over.low for over in overs), sum(over.high for over in overs))
    total = sum(map(_seconds, parts))
    return format_quantity(total, "s", *(ends if len(overs) == len(parts) else ()))


def _outer_end(fact: Fact, scale: float, middle: float) -> float:
    """Return the end of a fact's range that is farther from the middle; without a range, its value."""
    place, over = scale * float(fact.value), over_starts(fact)
    if over is None:
        return place
    return scale * over.high if place >= middle else scale * over.low


def _part_ranges(row: int, bar: Mapping[str, float | Quantity | Fact]) -> list[tuple[float, Quantity, str]]:
    """Return the range of each part that has one, moved to the part's end; parts of one bar lie apart."""
    ranges, left = [], 0.0
    with_range = [part for part, value in bar.items() if over_starts(value)]
    for part, value in bar.items():
        over = over_starts(value)
        if over is not None:
            # One above the other: ranges of two short parts would lie on one line.
            at = row + 0.12 * (with_range.index(part) - (len(with_range) - 1) / 2)
            ends = replace(over, value=left + over.value, low=left + over.low, high=left + over.high)
            ranges.append((at, ends, INK))
        left += _seconds(value)
    return ranges


def _stack(
    ax: Axes,
    row: int,
    bar: Mapping[str, float],
    looks: Mapping[str, Look],
    longest: float,
    past: float,
    total: str,
) -> None:
    """Draw one bar's parts and write its total at the end, past its ranges."""
    left = 0.0
    for part, seconds in bar.items():
        ax.barh(row, seconds, left=left, height=0.62, **looks[part].bar())
        left += seconds
    at = max(left, past) + 0.012 * longest
    ax.text(at, row, total, va="center", color=INK)
