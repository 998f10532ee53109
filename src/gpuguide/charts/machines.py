"""One study on several machines in one plot: a row for each variant, a mark for each machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpuguide.charts.marks import new_axes, time_axis
from gpuguide.charts.style import INK, MUTED, SERIES, describe, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gpuguide.results.starts import Quantity

__all__ = ["height_of", "plot_machines"]

_MARKERS = "osD^vPX*"
_SPREAD = 0.32
# Ends this far apart have hardly a power of ten between them, so the marks at 2 and 5 are labelled, too.
_FEW_DECADES = 50


def height_of(n_rows: int) -> float:
    """Return how high a figure of so many rows should be, in inches."""
    return 1.6 + 0.62 * n_rows


def plot_machines(
    rows: Mapping[str, Mapping[str, Quantity]],
    what: str,
    machines: Sequence[str],
    recorded: Sequence[str] = (),
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the times of variants; of more machines than colours, recorded ones and extremes are named."""
    few = len(machines) <= len(SERIES)
    named = list(machines) if few else list(recorded)
    colours = dict(zip(named, SERIES, strict=False))
    with style():
        ax = new_axes(ax, height_of(len(rows)))
        for row, times in enumerate(rows.values()):
            others = sorted((each for each in times if each not in colours), key=lambda m: times[m].value)
            # Apart in their order, so that those of equal times can be told apart.
            places = row + np.linspace(-_SPREAD, _SPREAD, len(others)) if len(others) > 1 else [float(row)]
            for machine, place in zip(others, places, strict=False):
                ax.plot(times[machine].value, place, "o", color=MUTED, alpha=0.6, markersize=4.5)
            for machine in (others[0], others[-1]) if others else ():
                low = machine == others[0]
                ax.annotate(
                    machine,
                    (times[machine].value, places[0 if low else -1]),
                    xytext=(-6 if low else 6, 0),
                    textcoords="offset points",
                    ha="right" if low else "left",
                    va="center",
                    fontsize=8.5,
                    color=INK,
                )
            for index, machine in enumerate(named):
                if machine in times:
                    ax.plot(
                        times[machine].value,
                        row,
                        _MARKERS[index % len(_MARKERS)],
                        color=colours[machine],
                        markersize=8,
                        zorder=3,
                    )
        for index, machine in enumerate(named):
            ax.plot(
                [], [], _MARKERS[index % len(_MARKERS)], color=colours[machine], markersize=8, label=machine
            )
        if not few:
            ax.plot([], [], "o", color=MUTED, label=f"{len(machines) - len(named)} others")
        ax.set_yticks(range(len(rows)), list(rows))
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        time_axis(ax, axis="x")
        first, last = ax.get_xlim()
        if last < _FEW_DECADES * first:
            ax.xaxis.set_minor_formatter(ax.xaxis.get_major_formatter())
        # Room for the names of the extremes.
        ax.margins(x=0.05 if few else 0.18)
        ax.set_xlabel("time")
        ax.set_title(what)
        figure = ax.get_figure(root=True)
        assert figure is not None
        figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        describe(ax, f"{what}, by machine. {' '.join(_words(name, rows[name]) for name in rows)}")
    return ax


def _words(variant: str, times: Mapping[str, Quantity]) -> str:
    ordered = sorted(times, key=lambda machine: times[machine].value)
    fastest, slowest = ordered[0], ordered[-1]
    return f"{variant}: from {times[fastest]} ({fastest}) to {times[slowest]} ({slowest})."
