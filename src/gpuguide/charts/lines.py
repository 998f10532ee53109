"""Charts over the size: time, rate, share of the ceiling, speed-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gpuguide.charts.marks import (
    End,
    Ranged,
    draw_ranges,
    draw_series,
    label_ends,
    mark_crossover,
    marker_of,
    measured_names,
    new_axes,
    size_axis,
    time_axis,
    timed_words,
)
from gpuguide.charts.style import MUTED, describe, style
from gpuguide.charts.things import looks_of
from gpuguide.errors import ArgumentError
from gpuguide.results.units import size_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gpuguide.results.results import Results
    from gpuguide.results.starts import Quantity

__all__ = ["plot_rate", "plot_share_of_ceiling", "plot_speedup", "plot_time"]

# Of each variant the sizes and what was measured there.
_Rows: TypeAlias = "Mapping[str, Sequence[tuple[int, Quantity]]]"


def plot_time(
    results: Results,
    *,
    variants: Sequence[str] | None = None,
    clock: str | None = None,
    crossover: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the median time of each variant against the size, both axes logarithmic.

    Parameters
    ----------
    results : Results
        What a study measured.
    variants : sequence of str, optional
        Names of the variants to draw; all of them by default.
    clock : str, optional
        Another clock than each variant's own, for example ``"launch"``.
    crossover : tuple of str, optional
        Two variants; the bracket of sizes at which the second overtakes the first is shaded.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        Seconds over size. A bar through a marker is the range in which another machine start's median is
        expected. Hollow markers are cells in which the host could not keep the queue filled (host-bound).

    Raises
    ------
    UnknownNameError
        If a variant is not in the results.
    ArgumentError
        If nothing was measured.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide.results.sample import sample_results
    >>> gg.plot_time(sample_results()).get_xlabel()
    'elements'
    """
    with style():
        ax = new_axes(ax)
        names = measured_names(results, variants, clock)
        looks = looks_of(results, names)
        series = [draw_series(ax, results, name, looks[name], clock) for name in names]
        size_axis(ax, results)
        time_axis(ax)
        draw_ranges(ax, [time for _, times in series for time in times])
        ax.set_ylabel(f"time ({timed_words(results, names, clock)})")
        if crossover is not None:
            mark_crossover(ax, results, *crossover)
        # After everything that moves the limits; otherwise the names of lines that end together would
        # overlap.
        label_ends(ax, [end for end, _ in series])
        rows = {
            name: [(size, results.time(name, size, clock)) for size in results.series(name, clock).sizes]
            for name in names
        }
        describe(ax, _words(results, rows, f"Time against {results.size_name}, both logarithmic"))
    return ax


def plot_rate(
    results: Results,
    *,
    variants: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the memory traffic per second of each variant against the size.

    Parameters
    ----------
    results : Results
        What a study measured; variants without a traffic model are left out.
    variants : sequence of str, optional
        Names of the variants to draw; all of them by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        Unique bytes read and written, divided by the time, in GB/s (1e9 bytes).

    Raises
    ------
    ArgumentError
        If no variant declares its traffic.

    Examples
    --------
    >>> from gpuguide.charts.lines import plot_rate
    >>> from gpuguide.results.sample import sample_results
    >>> plot_rate(sample_results()).get_ylabel()
    'GB/s (on the GPU)'
    """
    with style():
        ax = new_axes(ax)
        rows = {}
        for name in measured_names(results, variants, None):
            rates = [(size, results.rate(name, size)) for size in results.series(name).sizes]
            rows[name] = [(size, rate) for size, rate in rates if rate]
        rows = {name: points for name, points in rows.items() if points}
        ends = _draw_points(ax, results, rows, "a traffic model", 1e-9)
        ax.set_ylabel(f"GB/s ({timed_words(results, list(rows), None)})")
        ax.set_ylim(bottom=0)
        _draw_point_ranges(ax, results, rows, 1e-9)
        label_ends(ax, ends)
        describe(ax, _words(results, rows, f"Memory traffic against {results.size_name}"))
    return ax


def plot_share_of_ceiling(
    results: Results,
    *,
    variants: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of the memory ceiling that each variant reaches.

    Each kernel is compared with the measured ceiling for its own mix of reads and writes. Sizes that fit into
    the L2 cache are left out, because there the cache answers and not the memory.

    Parameters
    ----------
    results : Results
        What a study measured, with the ceilings of the same machine.
    variants : sequence of str, optional
        Names of the variants to draw; all of them by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        Per cent of the ceiling over size; 100 is the ceiling.

    Raises
    ------
    ArgumentError
        If no variant has a share: no ceilings, no traffic model, or all sizes fit into the cache.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide.results.sample import sample_results
    >>> gg.plot_share_of_ceiling(sample_results()).get_ylabel()
    '% of the peak memory speed'
    """
    with style():
        ax = new_axes(ax)
        rows = {}
        for name in measured_names(results, variants, None):
            shares = [(size, results.share(name, size)) for size in results.series(name).sizes]
            rows[name] = [(size, share) for size, share in shares if share]
        rows = {name: points for name, points in rows.items() if points}
        ends = _draw_points(ax, results, rows, "a share of a ceiling", 100)
        ax.axhline(100, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        # Above 100, so that the line of the ceiling and the marks on it are not cut off.
        ax.set_ylim(0, 108)
        ax.set_ylabel("% of the peak memory speed")
        _draw_point_ranges(ax, results, rows, 100)
        label_ends(ax, ends)
        describe(ax, _words(results, rows, f"Share of the memory ceiling against {results.size_name}"))
    return ax


def plot_speedup(
    results: Results,
    baseline: str,
    *,
    variants: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many times faster than a baseline each variant is, against the size.

    Parameters
    ----------
    results : Results
        What a study measured.
    baseline : str
        Name of the variant whose time is divided by the others'.
    variants : sequence of str, optional
        Names of the variants to draw; all but the baseline by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        Baseline time over candidate time, logarithmic; 1 is level. A bar through a marker is the range in
        which another machine start's ratio is expected.

    Raises
    ------
    UnknownNameError
        If the baseline or a variant is not in the results.
    ArgumentError
        If no size was measured for both.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide.results.sample import sample_results
    >>> gg.plot_speedup(sample_results(), "numpy").get_ylabel()
    'times as fast as NumPy'
    """
    with style():
        ax = new_axes(ax)
        base = results.series(baseline).sizes
        rows = {}
        for name in measured_names(results, variants, None):
            sizes = [size for size in results.series(name).sizes if size in base and name != baseline]
            if sizes:
                rows[name] = [(size, results.speedup(name, baseline, size)) for size in sizes]
        ends = _draw_points(ax, results, rows, f"a size in common with {baseline!r}")
        ax.axhline(1, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
        ax.set_ylabel(f"times as fast as {results.variant(baseline).label}")
        _draw_point_ranges(ax, results, rows)
        label_ends(ax, ends)
        describe(ax, _words(results, rows, f"Speed-up over {baseline} against {results.size_name}"))
    return ax


def _draw_points(ax: Axes, results: Results, rows: _Rows, what: str, scale: float = 1) -> list[End]:
    """Draw one line per variant from sizes and quantities, and return where the lines end."""
    if not rows:
        raise ArgumentError(f"{results.name}: no variant has {what}; nothing to draw")
    ends: list[End] = []
    looks = looks_of(results, list(rows))
    for name, points in rows.items():
        x, y = [size for size, _ in points], [scale * value.value for _, value in points]
        colour = looks[name].colour
        ax.plot(x, y, marker=marker_of(results, name), color=colour, linestyle=looks[name].dashes)
        ends.append((x[-1], y[-1], results.variant(name).label, colour))
    size_axis(ax, results)
    return ends


def _draw_point_ranges(ax: Axes, results: Results, rows: _Rows, scale: float = 1) -> None:
    looks = looks_of(results, list(rows))
    drawn: list[Ranged] = [
        (size, value, looks[name].colour) for name, points in rows.items() for size, value in points
    ]
    draw_ranges(ax, drawn, scale=scale)


def _words(results: Results, rows: _Rows, what: str) -> str:
    """Say where each line begins and ends, with as many digits as its range justifies."""
    said = []
    for name, points in rows.items():
        (first, begin), (last, end) = points[0], points[-1]
        label = results.variant(name).label
        said.append(f"{label} from {begin} at {size_words(first)} to {end} at {size_words(last)}")
    return f"{what}. {'; '.join(said)}."
